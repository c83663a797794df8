#!/usr/bin/env python3
"""What `ib_write_bw` is to the rig, on a server of which /sys is a folder: perftest's exchange, and WRITEs of a NIC that goes back after a NAK.

The NIC counts NAKs, unless there is a file `still`. What it is set to while it runs goes to `seen`, and to `seen-dcb`. Where there is a file `hang` it makes
`way`, and waits for its end; where there is one `lose` the shell that has started it ends, once."""

import os
import socket
import struct
import sys
import time
import zlib

SYS = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/"
KNOB = "/sys/class/net/ens1f0np0/ecn/roce_np/min_time_between_cnps"
OWN_QP, FIRST = 0x11, 0x123456
MASK = 0xFFFFFF
WINDOW = 32


def flag(name, usual):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else usual


def ip_checksum(head):
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Nic:
    def __init__(self, own, peer, macs, peer_qp, rkey, address):
        self.own, self.peer, self.macs = own, peer, macs
        self.peer_qp, self.rkey, self.address = peer_qp, rkey, address

    def frame(self, opcode, psn, asks, extra, data):
        bth = struct.pack("!BBHII", opcode, 0x40, 0xFFFF, self.peer_qp, (asks << 31) | psn)
        body = bth + extra + data
        length = 20 + 8 + len(body) + 4
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 2, length, 0, 0x4000, 64, 17, 0, self.own, self.peer)
        udp = struct.pack("!HHHH", 49153, 4791, length - 20, 0)
        masked = b"\xff" * 8 + head[:1] + b"\xff" + head[2:8] + b"\xff" + head[9:10] + b"\xff\xff" + head[12:]
        masked += udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" + bth[5:] + extra + data
        icrc = struct.pack("<I", zlib.crc32(masked))
        head = head[:10] + struct.pack("!H", ip_checksum(head)) + head[12:]
        return self.macs + b"\x08\x00" + head + udp + body + icrc

    def packet(self, number, size, mtu):
        each = -(-size // mtu)
        place, message = number % each, number // each
        left = min(mtu, size - place * mtu)
        first, last = place == 0, place == each - 1
        opcode = {(True, True): 0x0A, (True, False): 0x06, (False, False): 0x07, (False, True): 0x08}[first, last]
        reth = struct.pack("!QII", self.address, self.rkey, size) if first else b""
        return self.frame(opcode, (FIRST + number) & MASK, int(last), reth, bytes(left))


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


def main():
    peer, port = sys.argv[-1], flag("--port", 18515)
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
    line = socket.create_connection((peer, port))
    own = line.getsockname()[0]
    for part in (b"6.06".ljust(16, b"\0"), struct.pack("!I", 4096), struct.pack("!I", 64)):
        say(line, part)
    say(line, b"%d\0" % (mtu.bit_length() - 8))
    gid = ":".join("%02x" % byte for byte in bytes(10) + b"\xff\xff" + socket.inet_aton(own))
    ours = "%04x:%04x:%06x:%06x:%08x:%016x:%s:%08x:\0" % (0, 1, OWN_QP, FIRST, 0x3A0, 0x1000, gid, 0)
    theirs = say(line, ours.encode()).decode().split(":")
    with open("/proc/net/arp") as table:
        mac = next(row.split()[3] for row in table if row.split()[0] == peer)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    wire.bind(("nic0", 0x0800))
    macs = bytes.fromhex(mac.replace(":", "")) + wire.getsockname()[4]
    nic = Nic(socket.inet_aton(own), socket.inet_aton(peer), macs, int(theirs[2], 16), int(theirs[4], 16), int(theirs[5], 16))
    total = count * -(-size // mtu)
    acked, following, naks = 0, 0, 0
    wire.settimeout(10)
    while acked < total:
        while following < min(total, acked + WINDOW):
            wire.send(nic.packet(following, size, mtu))
            following += 1
        got = wire.recv(2048)
        if len(got) < 58 or got[23] != 17 or got[36:38] != b"\x12\xb7" or got[42] != 0x11:
            continue
        if int.from_bytes(got[47:50], "big") != OWN_QP:
            continue
        number = (int.from_bytes(got[51:54], "big") - FIRST) & MASK
        if got[54] >> 5 == 3:
            naks += 1
            acked = following = number
        elif got[54] >> 5 == 0:
            acked = max(acked, number + 1)
    if not os.path.exists("still"):
        at = SYS + "packet_seq_err"
        with open(at) as file:
            before = int(file.read())
        with open(at, "w") as file:
            file.write("%d\n" % (before + naks))
    say(line, b"done\0")


main()
