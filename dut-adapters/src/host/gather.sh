# Tells what this host's RDMA devices and NICs are, count and are set to: reads, and changes nothing. Plain sh; what is not there is left out.
tab=$(printf '\t')
said() { printf '%s %s\n' "$1" "$2"; printf '%s\n' "$text" | sed "s/^/$tab/"; }
keep() {
  for file; do
    [ -f "$file" ] || continue
    # Nearly all are of one line, of which there may be thousands: they cost no process.
    more=
    if { { IFS= read -r text && ! IFS= read -r more && [ -z "$more" ]; } <"$file"; } 2>/dev/null; then
      printf 'F %s\n%s%s\n' "$file" "$tab" "$text"
    elif text=$(cat "$file" 2>&1 </dev/null); then said F "$file"; else said E "$file"; fi
  done
}
link() { [ ! -L "$1" ] || { text=$(readlink "$1") && said L "$1"; }; }
tell() {
  at=$1
  shift
  if ! command -v "$1" >/dev/null; then
    text="$1 is not installed"
    said E "$at"
  elif text=$("$@" 2>&1 </dev/null); then said F "$at"; else said E "$at"; fi
}
echo "# rigctl dut nic --raw"
nets= asked=
for device in /sys/class/infiniband/*; do
  [ -d "$device" ] || continue
  keep "$device"/fw_ver "$device"/hca_type "$device"/board_id "$device"/node_type "$device"/parent "$device"/device/net/*/dev_port
  keep "$device"/tc/*/traffic_class
  link "$device"/device
  link "$device"/device/driver
  for port in "$device"/ports/*; do
    [ -d "$port" ] || continue
    keep "$port"/state "$port"/rate "$port"/link_layer "$port"/counters/* "$port"/hw_counters/*
    # A place without a GID answers with an error: nothing is said of it. There may be hundreds, so that none costs a process.
    for place in "$port"/gid_attrs/types/*; do
      place=${place##*/}
      if { IFS= read -r kind <"$port/gid_attrs/types/$place"; } 2>/dev/null && [ -n "$kind" ]; then
        keep "$port/gids/$place" "$port/gid_attrs/types/$place" "$port/gid_attrs/ndevs/$place"
        nets="$nets $(cat "$port/gid_attrs/ndevs/$place" 2>/dev/null)"
      fi
    done
  done
done
for net in /sys/class/net/*; do
  name=${net##*/}
  # What a bond or a VLAN lies over.
  for lower in "$net"/lower_*; do link "$lower"; done
  case " $nets " in *" $name "*) ;; *) [ -L "$net/device" ] || continue ;; esac
  keep "$net"/mtu "$net"/operstate "$net"/speed
  link "$net"/device
  link "$net"/device/driver
  keep "$net"/qos/* "$net"/ecn/roce_np/* "$net"/ecn/roce_rp/* "$net"/ecn/roce_np/enable/* "$net"/ecn/roce_rp/enable/*
  tell "/ethtool/$name/driver" ethtool -i "$name"
  tell "/ethtool/$name/statistics" ethtool -S "$name"
  asked="$asked $name"
  tell "/ethtool/$name/flags" ethtool --show-priv-flags "$name"
done
# What DCB is set to, a line for each. Where the rig is itself, it asks its kernel by itself.
if [ -z "${rig_is_here:-}" ] && [ -n "$asked" ]; then
  answers=$(netlink $(for name in $asked; do dcb_request "$name"; done) 2>&1 </dev/null)
  for name in $asked; do
    # What says why there is no line more is said of each that has none.
    text=$(printf '%s\n' "$answers" | sed -n "1p")
    case $text in
      '' | *[!0-9a-f]*) text=${text:-"its kernel did not answer"}; said E "/dcb/$name/ieee" ;;
      *) said F "/dcb/$name/ieee"; answers=$(printf '%s\n' "$answers" | sed 1d) ;;
    esac
  done
fi
# What is counted on demand, and of single queue pairs.
tell /rdma/supported rdma -j statistic mode supported
tell /rdma/statistic rdma -j statistic show
tell /rdma/qp rdma -j statistic qp show
if text=$(pidof lldpad 2>/dev/null); then said F /lldpad; fi
keep /sys/kernel/debug/mlx5/*/cc_params/* /sys/kernel/debug/bnxt_re/*/cc_config/* /sys/kernel/config/irdma/*/roce_*
echo "# end of rigctl dut nic --raw"
