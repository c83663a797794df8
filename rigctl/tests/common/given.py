"""Starts a program as somebody with other rights: given.py HOW PROGRAM ARGUMENTS...

ports      As nobody, and the file of the program has the capabilities of ports.
no-capset  As it is, where a filter refuses to let it give up capabilities (x86-64).
"""

import ctypes
import os
import struct
import sys

NOBODY = 65534
# CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_NICE, CAP_BPF
PORTS = sum(1 << number for number in (12, 13, 14, 21, 23, 39))
# linux/capability.h: revision 2, and in effect at once.
REVISION = 0x02000000 | 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
CAPSET = 126
# linux/filter.h and linux/seccomp.h
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
EPERM, ALLOW = 0x00050001, 0x7FFF0000


def ports(program):
    halves = (PORTS & 0xFFFFFFFF, 0, PORTS >> 32, 0)
    os.setxattr(program, "security.capability", struct.pack("<5I", REVISION, *halves))
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def no_capset(_program):
    steps = ((LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, CAPSET), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for asked in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters, 0, 0)):
        if libc.prctl(*asked) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


{"ports": ports, "no-capset": no_capset}[sys.argv[1]](sys.argv[2])
os.execv(sys.argv[2], sys.argv[2:])
