"""Holds a queue of an interface by an AF_XDP socket without a program, until its standard input ends."""

import ctypes
import mmap
import socket
import struct
import sys

AF_XDP = 44
SOL_XDP, RX_RING, UMEM_REG, FILL_RING, COMPLETION_RING = 283, 2, 4, 5, 6
COPY = 1 << 1
PIECES, PIECE = 64, 4096

interface, queue = sys.argv[1], int(sys.argv[2])
holder = socket.socket(AF_XDP, socket.SOCK_RAW)
memory = mmap.mmap(-1, PIECES * PIECE)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
umem = struct.pack("=QQIIII", start, len(memory), PIECE, 0, 0, 0)
holder.setsockopt(SOL_XDP, UMEM_REG, umem)
for ring in (FILL_RING, COMPLETION_RING, RX_RING):
    holder.setsockopt(SOL_XDP, ring, struct.pack("=I", PIECES))
# The socket module knows no addresses of this family.
address = struct.pack("=HHIII", AF_XDP, COPY, socket.if_nametoindex(interface), queue, 0)
libc = ctypes.CDLL(None, use_errno=True)
if libc.bind(holder.fileno(), address, len(address)) != 0:
    sys.exit(f"cannot bind: errno {ctypes.get_errno()}")
print("held", flush=True)
sys.stdin.read()
