"""A storm as test scripts make it: a raw socket, and a loop that sends and sleeps."""

import os
import socket
import sys
import time

interface, frame, interval, length, *processor = sys.argv[1:]
if processor:
    os.sched_setaffinity(0, {int(processor[0])})
frame = bytes.fromhex(frame)
interval = float(interval)
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind((interface, 0))
end = time.monotonic() + float(length)
while time.monotonic() < end:
    port.send(frame)
    time.sleep(interval)
