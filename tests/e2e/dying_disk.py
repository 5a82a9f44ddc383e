"""A file system of FUSE that holds a history, and that stops answering when it is told to.

The server reads each request (linux/fuse.h). While it is dead it answers none of them, so that no signal ends the wait
for an answer: a process that waits stays in the state D, like one whose NFS server is gone while it writes.
"""
import contextlib
import os
import subprocess
import unittest

from support import PYTHON

SERVER = r"""
import ctypes, errno, os, select, struct, sys
kernel = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other".encode()
if kernel.mount(b"none", sys.argv[1].encode(), b"fuse", 0, options):
    sys.exit("mount: " + os.strerror(ctypes.get_errno()))
LOOKUP, FORGET, GETATTR, SETATTR, UNLINK, RENAME, OPEN, READ, WRITE, STATFS, RELEASE = 1, 2, 3, 4, 10, 12, 14, 15, 16, 17, 18
FSYNC, FLUSH, INIT, OPENDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, BATCH_FORGET = 20, 25, 26, 27, 29, 30, 35, 36, 42
names, files = {}, {}

def attributes(node):
    size = len(files.get(node, b""))
    mode = 0o40755 if node == 1 else 0o100644
    return struct.pack("<6Q10I", node, size, size // 512 + 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

def entry(node):
    return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + attributes(node)

def text(data):
    return data.split(b"\0")[0]

def answer(what, node, data):
    if what == INIT:
        return struct.pack("<IIIIHHIIHHI7I", 7, 26, 65536, 0, 9, 9, 65536, 1, 0, 0, 0, *[0] * 7)
    if what == GETATTR:
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if what == LOOKUP:
        return entry(names[text(data)])
    if what == CREATE:
        node = names[text(data[16:])] = max(files, default=1) + 1
        files[node] = bytearray()
        return entry(node) + struct.pack("<QII", 0, 0, 0)
    if what in (OPEN, OPENDIR):
        return struct.pack("<QII", 0, 0, 0)
    if what == SETATTR:
        valid, size = struct.unpack("<I4xQQ", data[:24])[::2]
        if valid & 8:
            files[node] = files[node][:size].ljust(size, b"\0")
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if what == READ:
        at, size = struct.unpack("<QI", data[8:20])
        return bytes(files[node][at:at + size])
    if what == WRITE:
        at, size = struct.unpack("<QI", data[8:20])
        if len(files[node]) < at:
            files[node] += bytes(at - len(files[node]))
        files[node][at:at + size] = data[40:40 + size]
        return struct.pack("<II", size, 0)
    if what == UNLINK:
        del names[text(data)]
        return b""
    if what == STATFS:
        return struct.pack("<5Q10I", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, *[0] * 7)
    if what in (RELEASE, FSYNC, FLUSH, RELEASEDIR, FSYNCDIR):
        return b""
    raise OSError(errno.ENOSYS, "")

def serve(request):
    size, what, unique, node = struct.unpack("<IIQQ", request[:24])
    try:
        body, error = answer(what, node, request[40:size]), 0
    except KeyError:
        body, error = b"", -errno.ENOENT
    except OSError as e:
        body, error = b"", -e.errno
    os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)

print(flush=True)
dead, told, held = (), b"", []
while True:
    ready = select.select([device, 0], [], [])[0]
    if 0 in ready:
        told = os.read(0, 100)
        if not told:
            break
        if told == b"files\n":
            print(len(names), flush=True)
        else:
            dead = [int(number) for number in told.split()]
            print(flush=True)
            while held and not dead:
                serve(held.pop(0))
    if device not in ready:
        continue
    request = os.read(device, 1 << 18)
    what = struct.unpack("<I", request[4:8])[0]
    if what in (FORGET, INTERRUPT, BATCH_FORGET):
        continue
    if what != INIT and (0 in dead or what in dead):
        print(what, file=sys.stderr, flush=True)
        held.append(request)
        continue
    serve(request)
"""

ALL, READ, WRITE, FSYNC, FLUSH = 0, 15, 16, 20, 25


class DyingDisk:
    """The file system, in a mount namespace of its own. `inside` is what a command begins with that sees it."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.process = subprocess.Popen(["unshare", "--mount", PYTHON, "-S", "-E", "-c", SERVER, str(folder)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.process.stdout.readline() != b"\n":
            why = self.process.stderr.read().decode().strip()
            self.end()
            raise unittest.SkipTest(why)
        self.inside = ["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", "--"]

    def die(self, *requests):
        """From now on the file system does not answer these requests. It answers all later if there are none."""
        self.process.stdin.write(" ".join(map(str, requests)).encode() + b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def files(self):
        """Returns the number of files in the folder. Asks the server itself, so that it never hangs."""
        self.process.stdin.write(b"files\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def wait_for_victim(self):
        """Waits for a request that gets no answer."""
        return self.process.stderr.readline()

    def end(self):
        """Ends all waits for an answer with an error."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


REFUSED = "" if os.geteuid() == 0 and os.path.exists("/dev/fuse") else "only root may mount a FUSE"
