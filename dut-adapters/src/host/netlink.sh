# Has this host's kernel answer messages of route netlink: each argument is one, in hex, and so is each line that is printed: all that was answered. One
# program for all of them: a host may have hundreds of interfaces.
# Both programs need nothing but themselves.
netlink() {
  if command -v perl >/dev/null; then
    perl -e 'alarm 10; $| = 1;
      for (@ARGV) {
        socket(S, 16, 3, 0) && send(S, pack("H*", $_), 0) or die "$!\n";
        do { sysread(S, $a, 65536) or die "$!\n"; print unpack("H*", $a) } until unpack("x4S", $a) == 2;
        print "\n"
      }' "$@"
    return
  fi
  for python in python3 /usr/libexec/platform-python; do
    command -v "$python" >/dev/null || continue
    "$python" -c 'if True:
      import signal, socket, struct, sys
      signal.alarm(10)
      for one in sys.argv[1:]:
        s = socket.socket(16, 3, 0)
        s.send(bytes.fromhex(one))
        all = b""
        while True:
          a = s.recv(65536)
          all += a
          if struct.unpack_from("=H", a, 4)[0] == 2: break
        print(all.hex())' "$@"
    return
  done
  echo "neither perl nor python3 is installed there, one of which speaks to its kernel" >&2
  return 1
}
# The request for all that DCB is set to at an interface.
dcb_request() {
  padded=$(((${#1} + 8) / 4 * 4))
  bytes=$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')
  while [ ${#bytes} -lt $((padded * 2 - 8)) ]; do bytes=${bytes}00; done
  printf '%02x0000004e000500000000000000000000150000%02x000100%s ' $((padded + 20)) $((${#1} + 5)) "$bytes"
}
