#!/usr/bin/env python3
"""What `ib_write_bw` is to the rig, on a server of which /sys is a folder: perftest's exchange, and WRITEs of a NIC that goes back after a NAK.

The NIC counts NAKs, unless there is a file `still`. What it is set to while it runs goes to `seen`, and to `seen-dcb`. Where there is a file `hang` it makes
`way`, and waits for its end; where there is one `lose` the shell that has started it ends, once.

Without a client to go to it is the server of one, and the NIC behind it: `deaf` has it leave out every second notification, `silent` all acknowledgements; `refuse` has
it take nothing, `gone` end once it is met, `unable` never listen. As `ib_send_bw` it takes SENDs, `full` none for want of a buffer.

Where there is a file `far` its client is another NIC: it takes all of a message in its order, and asks once for what is missing; where there is a file `twice` with each packet behind it. With files `beside` the two
have met on another way than the cable, and are done.

Told how long it lasts (`-D`) it sends until it is ended, as fast as the NIC grants its class by what DCB is set to: a port of `SPEED`. `mixed` has the NIC give the
first class the bandwidth of the second, `slow` is a server that does not fill its port, `flat` leaves packets without the DSCP that they were asked for.

Its packets are of the family of the GID that it is told (`-x`), which `seen-gid` keeps. What /sys has no file for it counts in what `rdma statistic` says, but where there is
a file `stuck`."""

import fcntl
import ipaddress
import json
import os
import select
import socket
import struct
import sys
import time
import zlib

SYS = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/"
GIDS = "/sys/class/infiniband/mlx5_0/ports/1/gids/"
OPTIONAL = {"np_cnp_sent": "cc_tx_cnp_pkts", "np_ecn_marked_roce_packets": "cc_rx_ce_pkts"}
KNOB = "/sys/class/net/ens1f0np0/ecn/roce_np/min_time_between_cnps"
OWN_QP, FIRST = 0x11, 0x123456
MASK = 0xFFFFFF
WINDOW = 32
SPEED = 10_000_000
# Preamble, gap and FCS.
AROUND = 24


def flag(name, usual):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else usual


def ip_checksum(head):
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethertype(own):
    return 0x0800 if len(own) == 4 else 0x86DD


def address_of(line):
    """The NIC's own: that of its GID, or the one of IPv4 that its programs are met at."""
    with open(GIDS + str(flag("-x", 3))) as file, open("seen-gid", "a") as seen:
        gid = ipaddress.IPv6Address(file.read().strip())
        seen.write("%d\n" % flag("-x", 3))
    return gid.packed if gid.ipv4_mapped is None else socket.inet_aton(line.getsockname()[0])


def gid_of(own):
    return ":".join("%02x" % byte for byte in (own if len(own) == 16 else bytes(10) + b"\xff\xff" + own))


def of_gid(words):
    gid = bytes(int(word, 16) for word in words)
    return gid[12:] if gid[:12] == bytes(10) + b"\xff\xff" else gid


def opened(got):
    """Class, source, destination, and what follows the header of UDP; nothing of what is no RoCE."""
    if got[12:14] == b"\x08\x00" and got[23] == 17:
        ip, at = (got[15], got[26:30], got[30:34]), 34
    elif got[12:14] == b"\x86\xdd" and got[20] == 17:
        ip, at = ((got[14] << 4 | got[15] >> 4) & 0xFF, got[22:38], got[38:54]), 54
    else:
        return None
    return (*ip, got[at + 8:]) if got[at + 2:at + 4] == b"\x12\xb7" and len(got) >= at + 28 else None


class Nic:
    def __init__(self, own, peer, macs, peer_qp, rkey, address):
        self.own, self.peer, self.macs = own, peer, macs
        self.peer_qp, self.rkey, self.address = peer_qp, rkey, address

    def frame(self, opcode, psn, asks, extra, data, notice=0, tos=2):
        bth = struct.pack("!BBHII", opcode, 0x40 if not notice else 0, 0xFFFF, notice << 24 | self.peer_qp, (asks << 31) | psn)
        body = bth + extra + data
        length = 8 + len(body) + 4
        udp = struct.pack("!HHHH", 49153, 4791, length, 0)
        if len(self.own) == 4:
            head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + length, 0, 0x4000, 64, 17, 0, self.own, self.peer)
            masked = b"\xff" * 8 + head[:1] + b"\xff" + head[2:8] + b"\xff" + head[9:10] + b"\xff\xff" + head[12:]
            head = head[:10] + struct.pack("!H", ip_checksum(head)) + head[12:]
        else:
            head = struct.pack("!IHBB16s16s", 6 << 28 | tos << 20, length, 17, 64, self.own, self.peer)
            masked = b"\xff" * 8 + b"\x6f\xff\xff\xff" + head[4:7] + b"\xff" + head[8:]
        masked += udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" + bth[5:] + extra + data
        icrc = struct.pack("<I", zlib.crc32(masked))
        return self.macs + struct.pack("!H", ethertype(self.own)) + head + udp + body + icrc

    def packet(self, number, size, mtu, tos=2):
        each = -(-size // mtu)
        place, message = number % each, number // each
        left = min(mtu, size - place * mtu)
        first, last = place == 0, place == each - 1
        opcode = {(True, True): 0x0A, (True, False): 0x06, (False, False): 0x07, (False, True): 0x08}[first, last]
        reth = struct.pack("!QII", self.address, self.rkey, size) if first else b""
        return self.frame(opcode, (FIRST + number) & MASK, int(last), reth, bytes(left), tos=tos)


def read(line, count):
    got = b""
    while len(got) < count:
        more = line.recv(count - len(got))
        if not more:
            sys.exit("the server hung up")
        got += more
    return got


def say(line, message):
    line.sendall(message)
    return read(line, len(message))


def count(name, more):
    """One counter more: several programs do so at a time."""
    if os.path.exists(SYS + name):
        with open(SYS + name, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            value = int(file.read()) + more
            file.seek(0)
            file.write("%d\n" % value)
    elif not os.path.exists("stuck"):
        with open("rdma/statistic", "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            said = json.load(file)
            said[0][OPTIONAL[name]] += more
            file.seek(0)
            file.write(json.dumps(said))


def serve(port):
    """A server with memory for one client, or buffers. Its NIC acknowledges each WRITE or SEND that asks, and notifies whoever sends marked ones, as often as its
    interval lets it."""
    sends = os.environ.get("PROGRAM") == "ib_send_bw"
    number = OWN_QP + port - 18515
    if os.path.exists("unable"):
        sys.exit("Couldn't open the device")
    listener = socket.create_server(("", port))
    if os.path.exists("beside"):
        return time.sleep(1)
    line, _ = listener.accept()
    for size in (16, 4, 4, 2):
        line.sendall(read(line, size))
    own = address_of(line)
    ours = "%04x:%04x:%06x:%06x:%08x:%016x:%s:%08x:\0" % (0, 1, number, FIRST, 0x3A0, 0x5000, gid_of(own), 0)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype(own)))
    wire.bind(("nic0", ethertype(own)))
    # SO_RCVBUFFORCE: what comes while this process waits for a processor is lost to nobody but it.
    wire.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
    far = os.path.exists("far")
    for _ in range(1 if far else 4 if sends else 2):
        theirs = read(line, 108).decode().split(":")
        line.sendall(ours.encode())
    if far:
        with open(KNOB) as knob, open("seen", "a") as seen:
            seen.write(knob.read())
        return takes(line, wire, own, theirs)
    if os.path.exists("gone"):
        return
    if os.path.exists("hang"):
        open("way", "w").close()
    with open(KNOB) as knob:
        interval = int(knob.read()) / 1e6
    last, marks, taken = -1.0, 0, 0
    while True:
        got = wire.recv(9000)
        tos, rig, to, roce = opened(got) or (0, b"", b"", bytes(16))
        if to != own or int.from_bytes(roce[5:8], "big") != number:
            continue
        nic = Nic(own, rig, got[6:12] + got[0:6], int(theirs[2], 16), 0, 0)
        psn = int.from_bytes(roce[9:12], "big")
        # A WRITE to what it has told, address and key, of memory that is there.
        if sends and os.path.exists("full"):
            wire.send(nic.frame(0x11, psn, 0, struct.pack("!I", 0x2E << 24), b""))
            continue
        meant = roce[0] == 0x04 if sends else roce[0] == 0x0A and roce[12:24] == struct.pack("!QI", 0x5000, 0x3A0)
        if not meant or not sends and os.path.exists("refuse"):
            wire.send(nic.frame(0x11, psn, 0, struct.pack("!I", 0x62 << 24), b""))
            continue
        taken += 1
        if roce[8] & 0x80 and not os.path.exists("silent"):
            wire.send(nic.frame(0x11, psn, 0, struct.pack("!I", 0x1F << 24 | taken), b""))
        if tos & 3 != 3:
            continue
        count("np_ecn_marked_roce_packets", 1)
        marks += 1
        now = time.monotonic()
        if now - last < interval or (os.path.exists("deaf") and marks % 2 == 0):
            continue
        last = now
        wire.send(nic.frame(0x81, 0, 0, bytes(16), b"", 0x40, 48 << 2 | 2))
        count("np_cnp_sent", 1)


def takes(line, wire, own, theirs):
    """The NIC of a server whose client is another NIC: each WRITE in its order, and one NAK for a hole. Until the client has said that it is done."""
    expected, messages, asked = int(theirs[3], 16), 0, False
    peer = of_gid(theirs[6:22])
    while True:
        ready, _, _ = select.select([wire, line], [], [])
        if line in ready and wire not in ready:
            return line.sendall(read(line, 5))
        got = wire.recv(9000)
        _, _, to, roce = opened(got) or (0, b"", b"", bytes(16))
        if to != own or int.from_bytes(roce[5:8], "big") != OWN_QP:
            continue
        nic = Nic(own, peer, got[6:12] + got[0:6], int(theirs[2], 16), 0, 0)
        ahead = (int.from_bytes(roce[9:12], "big") - expected) & MASK
        if 0 < ahead < 1 << 23:
            count("out_of_sequence", 1)
            if not asked or os.path.exists("twice"):
                wire.send(nic.frame(0x11, expected, 0, struct.pack("!I", 0x60 << 24 | messages), b""))
            asked = True
            continue
        if ahead == 0:
            expected, asked = (expected + 1) & MASK, False
            messages = (messages + (roce[0] in (0x08, 0x0A))) & MASK
        if roce[8] & 0x80:
            wire.send(nic.frame(0x11, (expected - 1) & MASK, 0, struct.pack("!I", 0x1F << 24 | messages), b""))


def granted(port, frame):
    """Bits a second on the wire that the flow of this port gets: strict classes first, then by bandwidth, as water fills vessels; flows of a class alike."""
    with open("dcb/ens1f0np0/shown") as shown:
        dcb = json.load(shown)
    order, share = dcb["prio_tc"], dcb["tc_bw"]
    if os.path.exists("mixed"):
        share = [share[1], share[0]] + share[2:]
    flows = {}
    for name in os.listdir("running"):
        with open("running/" + name) as file:
            said = file.read().split()
        if len(said) == 2 and os.path.exists("/proc/" + said[0]):
            flows.setdefault(order[int(said[1])], []).append(int(name))
    most = lambda tc: dcb["tc_maxrate"][tc] * 1000 * (frame + AROUND) / (frame + 4) or SPEED
    left, rates = SPEED * (0.6 if os.path.exists("slow") else 1), {}
    for tc in sorted((tc for tc in flows if dcb["tc_tsa"][tc] != 2), reverse=True):
        rates[tc] = min(most(tc), left)
        left -= rates[tc]
    rest = {tc for tc in flows if dcb["tc_tsa"][tc] == 2}
    while rest:
        level = left / sum(share[tc] for tc in rest)
        full = {tc for tc in rest if most(tc) <= level * share[tc]}
        for tc in full or rest:
            rates[tc] = most(tc) if full else level * share[tc]
        left -= sum(rates[tc] for tc in full)
        rest = rest - full if full else set()
    return next((rates[tc] / len(ports) for tc, ports in flows.items() if port in ports), 0)


def shares(nic, wire, port, size, mtu):
    """Sends without an end. What it could not send while it waited for a processor it sends then."""
    os.makedirs("running", exist_ok=True)
    with open("running/%d" % port, "w") as running:
        running.write("%d %d" % (os.getpid(), flag("-S", 0)))
    tos = 0 if os.path.exists("flat") else flag("--tclass", 0)
    frame = len(nic.packet(1, size, mtu))
    acked, following, credit, last, rate, looked = 0, 0, 0.0, time.monotonic(), 0, 0
    wire.setblocking(False)
    while True:
        now = time.monotonic()
        if now - looked > 0.05:
            rate, looked = granted(port, frame), now
        credit, last = credit + rate * (now - last), now
        while credit > 0 and following < acked + 100 * -(-size // mtu):
            packet = nic.packet(following, size, mtu, tos)
            wire.send(packet)
            following += 1
            credit -= (len(packet) + AROUND) * 8
        try:
            while True:
                got = wire.recv(2048)
                roce = (opened(got) or (bytes(16),))[-1]
                if roce[0] == 0x11 and int.from_bytes(roce[5:8], "big") == OWN_QP + port - 18515:
                    acked = max(acked, ((int.from_bytes(roce[9:12], "big") - FIRST) & MASK) + 1)
        except BlockingIOError:
            time.sleep(0.002)


def main():
    peer, port = sys.argv[-1], flag("--port", 18515)
    if "." not in peer:
        return serve(port)
    size, mtu, count = flag("-s", 65536), flag("-m", 1024), flag("-n", 1000)
    with open(KNOB) as knob, open("seen", "a") as seen:
        seen.write(knob.read())
    if os.path.exists("dcb/ens1f0np0/shown"):
        with open("dcb/ens1f0np0/shown") as dcb, open("seen-dcb", "w") as seen:
            seen.write(dcb.read())
    if os.path.exists("lose"):
        os.remove("lose")
        with open("/proc/%d/stat" % os.getppid()) as stat:
            os.kill(int(stat.read().rsplit(")", 1)[1].split()[1]), 9)
        sys.exit(1)
    if os.path.exists("hang"):
        open("way", "w").close()
        time.sleep(300)
    if os.path.exists("beside"):
        return
    line = socket.create_connection((peer, port))
    own = address_of(line)
    for part in (b"6.06".ljust(16, b"\0"), struct.pack("!I", 4096), struct.pack("!I", 64)):
        say(line, part)
    say(line, b"%d\0" % (mtu.bit_length() - 8))
    ours = "%04x:%04x:%06x:%06x:%08x:%016x:%s:%08x:\0" % (0, 1, OWN_QP + port - 18515, FIRST, 0x3A0, 0x1000, gid_of(own), 0)
    theirs = say(line, ours.encode()).decode().split(":")
    with open("/proc/net/arp") as table:
        mac = next(row.split()[3] for row in table if row.split()[0] == peer)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype(own)))
    wire.bind(("nic0", ethertype(own)))
    macs = bytes.fromhex(mac.replace(":", "")) + wire.getsockname()[4]
    nic = Nic(own, of_gid(theirs[6:22]), macs, int(theirs[2], 16), int(theirs[4], 16), int(theirs[5], 16))
    if "-D" in sys.argv:
        return shares(nic, wire, port, size, mtu)
    total = count * -(-size // mtu)
    acked, following, naks = 0, 0, 0
    wire.settimeout(10)
    while acked < total:
        while following < min(total, acked + WINDOW):
            wire.send(nic.packet(following, size, mtu))
            following += 1
        got = wire.recv(2048)
        roce = (opened(got) or (bytes(16),))[-1]
        if roce[0] != 0x11 or int.from_bytes(roce[5:8], "big") != OWN_QP:
            continue
        number = (int.from_bytes(roce[9:12], "big") - FIRST) & MASK
        if roce[12] >> 5 == 3:
            naks += 1
            acked = following = number
        elif roce[12] >> 5 == 0:
            acked = max(acked, number + 1)
    if not os.path.exists("still"):
        at = SYS + "packet_seq_err"
        with open(at) as file:
            before = int(file.read())
        with open(at, "w") as file:
            file.write("%d\n" % (before + naks))
    say(line, b"done\0")


main()
