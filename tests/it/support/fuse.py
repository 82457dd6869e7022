#!/usr/bin/env python3
"""Mounts a folder by FUSE and runs a command: fuse.py FOLDER MOUNTPOINT COMMAND...

The kernel's protocol (linux/fuse.h, version 7.31) is spoken without a library. Needs a mount namespace of its own.
"""

import ctypes
import errno
import itertools
import os
import stat
import struct
import subprocess
import sys
import threading

FOLDER, MOUNTPOINT, *COMMAND = sys.argv[1:]
OUT = struct.Struct("<IiQ")
HEADER = struct.Struct("<IIQQIIIHH")
WRITE_MAX = 1 << 17
paths, numbers, handles, fresh = {1: FOLDER}, {FOLDER: 1}, {}, itertools.count(2)


def attributes(found, number):
    """Returns struct fuse_attr."""
    ns = [found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns]
    times = [time // 10**9 for time in ns] + [time % 10**9 for time in ns]
    return struct.pack(
        "<6Q10I", number, found.st_size, found.st_blocks, *times[:3], *times[3:], found.st_mode, found.st_nlink, 0, 0,
        found.st_rdev, 4096, 0,
    )


def entry(path):
    """Returns struct fuse_entry_out of a path, whose attributes are never cached."""
    found = os.lstat(path)
    if path not in numbers:
        numbers[path] = next(fresh)
    number = numbers[path]
    paths[number] = path
    return struct.pack("<4Q2I", number, 0, 0, 0, 0, 0) + attributes(found, number)


def child(node, name):
    return os.path.join(paths[node], name.split(b"\0")[0].decode())


def opened(path, flags, mode=0o600):
    handle = os.open(path, flags & ~os.O_APPEND, mode)
    handles[handle] = path
    return struct.pack("<QII", handle, 0, 0)


def set_attributes(node, body):
    valid, _, _, size, *_, mode = struct.unpack_from("<IIQQQQQQIIII", body)
    path = paths[node]
    if valid & 1:
        os.chmod(path, stat.S_IMODE(mode))
    if valid & 8:
        os.truncate(path, size)
    return struct.pack("<QII", 0, 0, 0) + attributes(os.lstat(path), node)


def renamed(before, after):
    os.rename(before, after)
    number = numbers.pop(before, None)
    numbers.pop(after, None)
    if number:
        numbers[after], paths[number] = number, after


def listed(node, offset):
    names = [".", "..", *sorted(os.listdir(paths[node]))]
    out = b""
    for place, name in enumerate(names[offset:], offset + 1):
        raw = name.encode()
        record = struct.pack("<QQII", place, place, len(raw), 0) + raw
        record += b"\0" * (-len(record) % 8)
        if len(out) + len(record) > 4096:
            break
        out += record
    return out


def answered(code, node, body):
    """Returns the answer to a request, or None if there is none."""
    if code == 1:
        return entry(child(node, body))
    if code in (2, 36, 42):
        return None
    if code == 3:
        return struct.pack("<QII", 0, 0, 0) + attributes(os.lstat(paths[node]), node)
    if code == 4:
        return set_attributes(node, body)
    if code == 10:
        path = child(node, body)
        os.unlink(path)
        numbers.pop(path, None)
        return b""
    if code in (12, 45):
        to, = struct.unpack_from("<Q", body)
        before, after = body[8 if code == 12 else 16 :].split(b"\0")[:2]
        renamed(child(node, before), child(to, after))
        return b""
    if code == 13:
        source, = struct.unpack_from("<Q", body)
        path = child(node, body[8:])
        os.link(paths[source], path)
        return entry(path)
    if code == 14:
        return opened(paths[node], struct.unpack_from("<I", body)[0])
    if code == 15:
        handle, offset, size = struct.unpack_from("<QQI", body)
        return os.pread(handle, size, offset)
    if code == 16:
        handle, offset, size = struct.unpack_from("<QQI", body)
        return struct.pack("<II", os.pwrite(handle, body[40 : 40 + size], offset), 0)
    if code == 17:
        found = os.statvfs(FOLDER)
        return struct.pack(
            "<5Q4I24x", found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree, found.f_bsize, 255,
            found.f_frsize, 0,
        )
    if code == 18:
        handle, = struct.unpack_from("<Q", body)
        handles.pop(handle, None)
        os.close(handle)
        return b""
    if code == 20:
        os.fsync(struct.unpack_from("<Q", body)[0])
        return b""
    if code == 26:
        return struct.pack("<4I2H2I2H8I", 7, 31, WRITE_MAX, 0, 16, 12, WRITE_MAX, 1, 0, 0, *[0] * 8)
    if code == 27:
        return struct.pack("<QII", 0, 0, 0)
    if code == 28:
        return listed(node, struct.unpack_from("<QQ", body)[1])
    if code in (25, 29, 30):
        return b""
    if code == 35:
        flags, mode = struct.unpack_from("<II", body)
        path = child(node, body[16:])
        handle = opened(path, flags | os.O_CREAT, mode)
        return entry(path) + handle
    raise OSError(errno.ENOSYS, code)


def serve(device):
    while True:
        try:
            request = os.read(device, WRITE_MAX + 4096)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                continue
            return
        _, code, unique, node, *_ = HEADER.unpack_from(request)
        try:
            answer, problem = answered(code, node, request[HEADER.size :]), 0
        except OSError as error:
            answer, problem = b"", -(error.errno or errno.EIO)
        if answer is not None:
            os.write(device, OUT.pack(OUT.size + len(answer), problem, unique) + answer)


device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
if ctypes.CDLL(None, use_errno=True).mount(b"coffer-test", MOUNTPOINT.encode(), b"fuse", 0, options) != 0:
    sys.exit(f"fuse: {os.strerror(ctypes.get_errno())}")
threading.Thread(target=serve, args=(device,), daemon=True).start()
ended = subprocess.run(COMMAND).returncode
sys.stdout.flush()
# The mount goes with its namespace.
os._exit(ended)
