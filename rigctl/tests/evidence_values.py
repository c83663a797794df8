"""Recomputes measured values from the captures of a run alone, and holds them against its results.json.

    python3 evidence_values.py DIR...      the folders of runs

Standard library only, and nothing of the project: a pcapng reader, an Ethernet, IPv4, UDP and PFC reader, and for each
value the arithmetic that a person would do by hand. Prints a line a value; exits with 1 when one differs.
"""

import csv
import gzip
import json
import os
import re
import struct
import sys

NS = 1000  # picoseconds; captures are cut to the nanosecond


class Frame:
    """One frame: the port's name, `out` when the rig sent it, nanoseconds, its bytes and its length without FCS."""

    def __init__(self, port, out, ns, data, length):
        self.port, self.out, self.ns, self.data, self.length = port, out, ns, data, length
        self.type = struct.unpack_from(">H", data, 12)[0]
        self.udp, self.ecn, self.opcode, self.psn = None, None, None, None
        if self.type == 0x0800 and data[23] == 17:
            self.ecn = data[15] & 3
            self.udp, destination = struct.unpack_from(">HH", data, 34)
            if destination == 4791:
                self.opcode = data[42]
                self.psn = int.from_bytes(data[51:54], "big")

    def pfc(self, traffic_class):
        """The pause that it asks of a class, in quanta; None when it asks for none."""
        if self.type != 0x8808 or struct.unpack_from(">H", self.data, 14)[0] != 0x0101:
            return None
        if not self.data[17] >> traffic_class & 1:
            return None
        return struct.unpack_from(">H", self.data, 18 + 2 * traffic_class)[0]


class Capture:
    """A capture file: frames in order of time, the streams' UDP ports by name, and what the interfaces say of loads."""

    def __init__(self, path):
        with gzip.open(path, "rb") as file:
            blob = file.read()
        self.frames, self.streams, self.loads, ports = [], {}, [], []
        at = 0
        while at < len(blob):
            kind, size = struct.unpack_from("<II", blob, at)
            body = blob[at + 8 : at + size - 4]
            if kind == 0x0A0D0D0A:
                for text in comments(body, 16):
                    for name, port in re.findall(r"^(?:stream|flow) (.+?): .*UDP source port (\d+)", text, re.M):
                        self.streams[name] = int(port)
            elif kind == 1:
                names = [value.decode() for code, value in options(body, 8) if code == 2]
                ports.append(names[0])
                for text in comments(body, 8):
                    if text.startswith("load "):
                        load = dict(part.split("=", 1) for part in text.split()[1:])
                        self.loads.append(dict(load, port=names[0]))
            elif kind == 6:
                interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
                flags = [value for code, value in options(body, 20 + (kept + 3) // 4 * 4) if code == 2]
                out = struct.unpack("<I", flags[0])[0] & 3 == 2
                data = body[20 : 20 + kept]
                self.frames.append(Frame(ports[interface], out, high << 32 | low, data, length))
            at += size

    def of(self, stream, port=None, out=None):
        """The frames of data of a stream that passed a port."""
        udp = self.streams[stream]
        return [f for f in self.frames if f.udp == udp and port in (None, f.port) and out in (None, f.out)]

    def words(self, port, traffic_class, out):
        """The PFC frames of a class that passed a port."""
        found = (f for f in self.frames if f.port == port and f.out == out)
        return [f for f in found if f.pfc(traffic_class) is not None]

    def load(self, stream, direction):
        """What windows say of a load: frames, bytes, first and last second."""
        return [load for load in self.loads if (load["stream"], load["dir"]) == (stream, direction)]


def options(body, at):
    while at + 4 <= len(body):
        code, size = struct.unpack_from("<HH", body, at)
        if code == 0:
            return
        yield code, body[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def comments(body, at):
    return [value.decode() for code, value in options(body, at) if code == 1]


# What a value is, from the frames. Each gives the least and the greatest that the frames allow, in the unit of the results.


def detection(capture):
    """Held frames leave when the watchdog acts: from the first XOFF to the first of them, less the way through."""
    first = capture.words("p2", 3, True)[0].ns
    held = [f.ns for f in capture.of("victim", "p2", False) if f.ns > first + 100_000]
    return (held[0] - first) * NS - 5_000_000, (held[0] - first) * NS


def restoration(capture):
    """Between the last probe that was lost and the first that came through, counted from the last XOFF."""
    last = capture.words("p2", 3, True)[-1].ns
    back = {f.psn for f in capture.of("victim", "p2", False)}
    sent = [(f.ns, f.psn in back) for f in capture.of("victim", "p1", True)]
    lost = max(ns for ns, came in sent if not came)
    through = min(ns for ns, came in sent if came and ns > lost)
    return (lost - last) * NS - 1_000_000, (through - last) * NS + 1_000_000


def xoffs(capture):
    return exactly(sum(1 for f in capture.words("p1", 3, False) if f.pfc(3) > 0))


def marks(capture):
    return exactly(sum(1 for f in capture.of("fill", None, False) if f.ecn == 3))


def lost(stream):
    """What was sent of a stream, less what was received, frame by frame."""
    return lambda capture: exactly(len(capture.of(stream, None, True)) - len(capture.of(stream, None, False)))


def throughput(capture):
    """Bits of all frames but the first over the time from the first to the last, as the windows say it."""
    windows = capture.load("full", "received")
    window = max(windows, key=lambda window: int(window["frames"]))
    frames, size = int(window["frames"]), int(window["bytes"])
    seconds = float(window["last"]) - float(window["first"])
    rate = (size - size / frames) * 8 / seconds
    return int(rate * 0.99999), int(rate * 1.00001)


def cnps(capture):
    return [f for f in capture.frames if f.opcode == 0x81 and not f.out]


def cnp_interval(capture):
    """The least time from CNP to CNP: each answers its mark at once."""
    came = [f.ns for f in cnps(capture)]
    least = min(b - a for a, b in zip(came, came[1:]))
    return (least - 1) * NS, (least + 1) * NS


def cut(capture):
    """What the first CNP leaves of the rate: the least gap from packet to packet by the widest one close behind it."""
    cnp = min(f.ns for f in capture.frames if f.opcode == 0x81)
    sent = [f.ns for f in capture.of("sender", None, False)]
    gaps = [(b - a, a) for a, b in zip(sent, sent[1:])]
    before = min(gap for gap, at in gaps if at < cnp)
    after = max(gap for gap, at in gaps if cnp <= at < cnp + 10_000)
    return int((before - 1) / (after + 1) * 1e6), int((before + 1) / (after - 1) * 1e6)


def pause(capture):
    """For how long the device sent nothing after the first XOFF: the gap between two frames, less the second one."""
    asked = capture.words("p2", 3, True)[0].ns
    came = [f for f in capture.of("load", "p2", False) if f.ns > asked]
    gaps = ((b.ns - a.ns, (b.length + 24) * 8 / 100) for a, b in zip(came, came[1:]))
    gap, slot = next((gap, slot) for gap, slot in gaps if gap > 2 * slot)
    return int((gap - slot - 1) * NS), int((gap - slot + 1) * NS)


def unprotected(capture):
    """Frames without a SecTAG, and packet numbers that do not grow, of each direction and association."""
    wrong, last = 0, {}
    for f in capture.frames:
        if f.type != 0x88E5:
            wrong += 1
            continue
        place = (f.port, f.out, f.data[14] & 3)
        number = struct.unpack_from(">I", f.data, 16)[0]
        wrong += number <= last.get(place, 0)
        last[place] = number
    return exactly(wrong)


def exactly(value):
    return value, value


def asked(captures):
    """Of each trial, how many frames were sent and whether the device asked for a pause."""
    return {
        trial: (len(capture.of("fill", None, True)), bool(capture.words("p1", 3, False)))
        for trial, capture in captures.items()
    }


def threshold(captures):
    """The least number of frames with which the device asks for a pause; one less was tried and it did not."""
    asks = dict(asked(captures).values())
    least = min(sent for sent, asked in asks.items() if asked)
    if asks.get(least - 1) is not False:
        raise SystemExit(f"{least - 1} frames were not tried")
    return exactly(least)


# The measurement by case, name and subject: what recomputes it.
VALUES = [
    ("pfcwd::detection-latency-broadcom", "pfcwd.detection", "storm, victim", detection),
    ("pfcwd::detection-with-late-polls-broadcom", "pfcwd.restoration", "storm, victim", restoration),
    ("pfcwd::own-pfc-is-not-a-storm", "pfc.sent", "p1 class 3", xoffs),
    ("pfcwd::line-rate-traffic-broadcom", "throughput", "full, queue 3", throughput),
    ("pfcwd::action-drop-broadcom", "loss", "victim", lost("victim")),
    ("pfcwd::sender-that-ignores-pfc-broadcom", "loss", "deaf", lost("deaf")),
    ("ecn::all-marked-without-congestion-broadcom", "ecn.marks", "fill", marks),
    ("cnp::one-cnp-an-interval", "cnp.interval", "p1", cnp_interval),
    ("dcqcn::one-cut", "rate.cut", "sender", cut),
    ("headroom::pause-time-broadcom", "pfc.pause", "load", pause),
    ("macsec-pfc::integrity-only", "macsec.frames", "p2", unprotected),
]

# The same of values that all trials of a case give together; all of them must have been kept. Each trial by itself stands
# in a table, whose columns are those named.
TOGETHER = [("buffers::xoff-threshold-broadcom", "buffer.xoff", "fill", threshold, asked, ("held", "happened"))]


def check(folder):
    with open(os.path.join(folder, "results.json")) as file:
        results = json.load(file)
    if results["format"] != "rig-results/2":
        raise SystemExit(f"{folder}: format {results['format']}")
    cases = {case["id"]: case for case in results["cases"]}
    tally = []
    for case, name, subject, value in VALUES:
        for measurement, files in measured(cases, case, name, subject):
            for reading in measurement["readings"]:
                if reading["trial"] in files:
                    got = value(Capture(os.path.join(folder, files[reading["trial"]])))
                    what = f"{case} {name} {subject}, trial {reading['trial']}"
                    tally.append(compare(what, measurement["unit"], reading, got))
    for case, name, subject, value, single, columns in TOGETHER:
        for measurement, files in measured(cases, case, name, subject):
            if len(files) == measurement["trials"]:
                captures = {trial: Capture(os.path.join(folder, path)) for trial, path in files.items()}
                what = f"{case} {name} {subject}"
                tally.append(compare(what, measurement["unit"], measurement, value(captures)))
                said = table(folder, cases[case], name, subject, columns)
                tally.append(compare_rows(what, said, single(captures)))
    return tally


def table(folder, case, name, subject, columns):
    """What a table says of each trial."""
    path = next(table["path"] for table in case["tables"] if table["measure"] == name)
    with gzip.open(os.path.join(folder, path), "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["subject"] == subject]
    return {int(row["trial"]): tuple(int(row[column]) for column in columns) for row in rows}


def compare_rows(what, said, got):
    """Whether a table and the frames say the same of each trial."""
    agrees = bool(said) and said == got
    word = "agrees" if agrees else "DIFFERS"
    print(f"{word:>8} {what}, trial by trial: {len(said)} rows, evidence of {len(got)} trials")
    return agrees


def measured(cases, case, name, subject):
    """The measurements of a case that are called so, and its captures by trial."""
    if case not in cases:
        return []
    files = {file["trial"]: file["path"] for file in cases[case]["evidence"]}
    same = (m for m in cases[case]["measurements"] if (m["name"], m["subject"]) == (name, subject))
    return [(measurement, files) for measurement in same]


def compare(what, unit, said, got):
    """Whether the results' interval and that of the frames have a value in common."""
    lo, hi = int(said["lo"]), int(said["hi"])
    agrees = lo <= got[1] and got[0] <= hi
    word = "agrees" if agrees else "DIFFERS"
    print(f"{word:>8} {what}: results {lo} to {hi} {unit}, evidence {got[0]} to {got[1]}")
    return agrees


def main():
    tally = [agrees for folder in sys.argv[1:] for agrees in check(folder)]
    print(f"{len(tally)} values, {tally.count(False)} differ")
    sys.exit(0 if tally and all(tally) else 1)


if __name__ == "__main__":
    main()
