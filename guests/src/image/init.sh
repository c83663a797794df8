#!/bin/sh
# PID 1 of the guest. On the kernel's command line: rig.ip=ADDRESS/LENGTH. The console is the first serial line; the second one is
# where the rig says what to run: one line a command, answered by its output, each line behind `|`, and `=STATUS`.
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
export PATH=/usr/bin:/bin HOME=/tmp
for m in $(cat /modules); do insmod "$m" || echo "rig: $m does not load"; done
for w in $(cat /proc/cmdline); do case $w in rig.ip=*) ip=${w#rig.ip=};; esac; done
ip link set lo up; ip link set eth0 mtu 1500 up; ip addr add "$ip" dev eth0
rdma link add rxe0 type rxe netdev eth0
# The address becomes a GID a moment later.
gid=/sys/class/infiniband/rxe0/ports/1/gids/1
while [ -d /sys/class/infiniband/rxe0 ] && ! grep -q ffff $gid 2>/dev/null; do sleep 0.1; done
stty -F /dev/ttyS1 raw -echo
exec 3</dev/ttyS1 4>/dev/ttyS1
[ -d /sys/class/infiniband/rxe0 ] && echo "=ready $(uname -r)" >&4 || echo "=no rxe0" >&4
while read -r line <&3; do
  sh -c "$line" >/tmp/said 2>&1 </dev/null; status=$?
  sed 's/^/|/' /tmp/said >&4
  echo "=$status" >&4
done
poweroff -f
