#!/bin/sh
# PID 1 of the guest. On the kernel's command line: rig.ip=ADDRESS/LENGTH for a RoCE NIC (and rig.beside=ADDRESS/LENGTH for a line beside the rig), or rig.bridge=NAME for a switch. The console is
# the first serial line; the second one is where the rig says what to run: one line a command behind its length, answered by its output, each
# line behind `|`, and `=STATUS`. A line of another length has lost some of it on its way: it is not run, and the answer is `=torn`. BusyBox takes its own `ip` and `tc` before those of iproute2 unless they are called by their paths.
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
export PATH=/usr/bin:/bin HOME=/tmp
for m in $(cat /modules); do insmod "$m" || echo "rig: $m does not load"; done
for w in $(cat /proc/cmdline); do case $w in rig.ip=*) ip=${w#rig.ip=};; rig.bridge=*) br=${w#rig.bridge=};; rig.beside=*) beside=${w#rig.beside=};; esac; done
/usr/bin/ip link set lo up
if [ -n "$br" ]; then
  # Nothing but what comes in leaves: no addresses, no queries, and no wait before a port passes frames on.
  echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
  /usr/bin/ip link add "$br" type bridge forward_delay 0 mcast_snooping 0 && has=$br
  for nic in /sys/class/net/eth*; do
    nic=${nic##*/}
    echo 1 >/proc/sys/net/ipv6/conf/$nic/disable_ipv6
    /usr/bin/ip link set $nic master "$br" mtu 1500 up || has=
  done
  /usr/bin/ip link set "$br" up || has=
else
  /usr/bin/ip link set eth0 mtu 1500 up; /usr/bin/ip addr add "$ip" dev eth0
  [ -z "$beside" ] || { /usr/bin/ip link set eth1 up; /usr/bin/ip addr add "$beside" dev eth1; }
  rdma link add rxe0 type rxe netdev eth0
  # The address becomes a GID a moment later.
  gid=/sys/class/infiniband/rxe0/ports/1/gids/1
  while [ -d /sys/class/infiniband/rxe0 ] && ! grep -q ffff $gid 2>/dev/null; do sleep 0.1; done
  [ -d /sys/class/infiniband/rxe0 ] && has=rxe0
fi
stty -F /dev/ttyS1 raw -echo
exec 3</dev/ttyS1 4>/dev/ttyS1
[ -n "$has" ] && echo "=ready $(uname -r)" >&4 || echo "=no ${br:-rxe0}" >&4
while read -r length line <&3; do
  [ "${#line}" = "$length" ] || { echo "=torn" >&4; continue; }
  sh -c "$line" >/tmp/said 2>&1 </dev/null; status=$?
  sed 's/^/|/' /tmp/said >&4
  echo "=$status" >&4
done
poweroff -f
