"""Stands for perl on a server, and for the kernel behind it: takes messages of DCB netlink in hex, and keeps what an interface is set to in the answer
that a host has told (`dcb/INTERFACE/ieee`). What it makes of a message it tells beside that, in `dcb/INTERFACE/shown`.

Priority 7 cannot have PFC: then 6 has. Limits are rounded down to 100 Mb/s, as mlx5 has them. Where there is a file `denied` nobody may set
anything; where there is a file `lingers` something of it goes on, whose process is written there; where there is a file `refuses` the driver
alone refuses.
"""

import json
import os
import struct
import subprocess
import sys

ETS, PFC, APP_TABLE, MAX_RATE, BUFFER = 1, 2, 3, 7, 10
NAME, IEEE, DCBX = 1, 13, 14


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3 :]


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind, body):
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def status(request, code=0):
    return message(2, struct.pack("=i", -code) + request[:16])


def answered(request):
    kind = struct.unpack_from("=H", request, 4)[0]
    command = request[17]
    asked = dict(attributes(request[20:]))
    net = asked[NAME].rstrip(b"\0").decode()
    at = f"dcb/{net}/ieee"
    if not os.path.exists(at):
        return status(request, 95)
    kept = bytes.fromhex(open(at).read())
    if kind == 78:
        return kept
    if os.path.exists("lingers"):
        child = subprocess.Popen(["sleep", "300"], close_fds=False)
        open("lingers", "w").write(f"{child.pid}\n")
    if os.path.exists("denied"):
        return status(request, 1)
    reply = lambda code: message(79, struct.pack("=BBH", 0, command, 0) + attribute(IEEE, bytes([-code & 0xFF])))
    if os.path.exists("refuses"):
        return reply(22) + status(request)
    length = struct.unpack_from("=I", kept)[0]
    outer = dict(attributes(kept[20:length]))
    parts = dict(attributes(outer[IEEE]))
    table = [entry for _, entry in attributes(parts.get(APP_TABLE, b""))]
    for part, value in attributes(asked[IEEE]):
        if part == APP_TABLE:
            entries = [entry for _, entry in attributes(value)]
            # 27 takes out; another priority of the same replaces.
            gone = entries if command == 27 else []
            same = [entry[0:1] + entry[2:] for entry in entries]
            table = [one for one in table if one not in gone and (command == 27 or one[0:1] + one[2:] not in same)]
            table += entries if command == 20 else []
        elif part == PFC:
            on = value[1]
            value = bytes([value[0], on & 0x7F | 0x40 if on & 0x80 else on]) + value[2:]
            parts[PFC] = value
        elif part == MAX_RATE:
            parts[MAX_RATE] = struct.pack("=8Q", *[rate // 100_000 * 100_000 for rate in struct.unpack("=8Q", value)])
        else:
            parts[part] = value
    parts[APP_TABLE] = b"".join(attribute(1, entry) for entry in table)
    inner = b"".join(attribute(part, value) for part, value in parts.items())
    body = struct.pack("=BBH", 0, 21, 0) + attribute(NAME, asked[NAME]) + attribute(IEEE, inner) + attribute(DCBX, outer[DCBX])
    open(at, "w").write((message(78, body) + status(request)).hex() + "\n")
    shown = {
        "prio_pfc": [parts[PFC][1] >> priority & 1 for priority in range(8)],
        "tc_bw": list(parts[ETS][3:11]),
        "tc_tsa": list(parts[ETS][19:27]),
        "prio_tc": list(parts[ETS][27:35]),
        "tc_maxrate": struct.unpack("=8Q", parts[MAX_RATE]),
        "prio_buffer": list(parts[BUFFER][:8]),
        "buffer_size": struct.unpack_from("=8I", parts[BUFFER], 8),
        "app": [struct.unpack("=BBH", entry) for entry in table],
    }
    open(f"dcb/{net}/shown", "w").write(json.dumps(shown, separators=(",", ":")))
    return reply(0) + status(request)


for one in sys.argv[3:]:
    print(answered(bytes.fromhex(one)).hex())
