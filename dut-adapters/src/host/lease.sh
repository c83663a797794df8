# Holds this host's NICs for as long as this shell and whatever it started live. Nothing is written for it: the lock is one on a folder.
held() {
  if ! command -v flock >/dev/null; then
    echo 'flock (of util-linux) is not installed there: nothing would keep two rigs apart'
    return
  fi
  exec 9</sys/class/net
  tries=$1
  until flock -n 9; do
    tries=$((tries - 1))
    if [ "$tries" -gt 0 ]; then
      sleep 1
      continue
    fi
    who=
    # Of processes of other users root alone is told.
    for at in $(grep -l FLOCK /proc/[0-9]*/fdinfo/9 2>/dev/null); do
      at=${at%/fdinfo/9}
      [ "$at/fd/9" -ef /sys/class/net ] || continue
      line=$(tr '\0' ' ' <"$at/cmdline") 2>/dev/null
      line=${line% }
      who="process ${at#/proc/} there ($line)"
      case "$line" in "sh -s rigctl "*)
        who=${line#sh -s }
        break
        ;;
      esac
    done
    echo "its NICs are in use by ${who:-another process}"
    return
  done
  echo held
}
