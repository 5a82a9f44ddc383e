"""Processes name files that a server must not touch: links to secrets, and folders that never answer. Other processes
name files that it must read, in a container's files or below the root."""
import os
import shutil
import subprocess
import unittest
import uuid

from support import PYTHON, Case, main, wait_until

AS_ROOT = os.geteuid() == 0
SOMEBODY = 200000 + os.getpid() % 100000  # a user that owns nothing and runs no other process
NAMED = ["sh", "-c", "read end", ".command.run"]
TASK = "#!/bin/bash\n### ---\n### name: '{} (s 1)'\n### ...\n"

# A process in a folder of a FUSE that answers no lookup. Only the requests INIT (26), ACCESS (34) and GETATTR (3)
# of linux/fuse.h get an answer, so a process can enter the folder. The argument is the mount that hides it afterwards. The
# process ends with its input.
NEVER_ANSWERS = """
import ctypes, os, struct, sys
kernel = ctypes.CDLL(None, use_errno=True)
folder, hidden = sys.argv[1:3]
def mount(kind, options):
    if kernel.mount(b"none", folder.encode(), kind.encode(), 0, options.encode()):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
device = os.open("/dev/fuse", os.O_RDWR)
mount("fuse", f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other")
end, held = os.pipe()
if os.fork() == 0:
    import select
    os.close(held)
    while end not in select.select([device, end], [], [])[0]:
        size, what, unique = struct.unpack("<IIQ", os.read(device, 1 << 18)[:16])
        if what == 26:
            os.write(device, struct.pack("<IiQIIIIHHIIHHI7I", 80, 0, unique, 7, 26, 0, 0, 9, 9, 4096, 1, 0, 0, 0, *[0] * 7))
        elif what == 3:
            attributes = [1, 0, 0, 0, 0, 0], [0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0]
            os.write(device, struct.pack("<IiQQII6Q10I", 120, 0, unique, 0, 0, 0, *attributes[0], *attributes[1]))
        elif what == 34:
            os.write(device, struct.pack("<IiQ", 16, -38, unique))
    os._exit(0)
os.close(device)
os.set_inheritable(held, True)
os.chdir(folder)
if hidden == "covered":
    mount("tmpfs", "")
elif hidden == "detached":
    kernel.umount2(folder.encode(), 2)
os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", "print(flush=True); open(0).read()", ".command.run"])
"""
# A program on a FUSE below a root that is not the root of its namespace, so that its mounts have other paths than its
# links. All requests get an answer, except FORGET (2), which needs none, and all OPEN (14) after the first, which comes
# from exec.
OPENS_ONCE = """
import ctypes, os, struct, sys
kernel = ctypes.CDLL(None, use_errno=True)
folder = sys.argv[1]
program = open("/bin/cat", "rb").read()
def mount(source, place, kind, flags, options):
    if kernel.mount(source, place.encode(), kind, flags, options):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
mount(b"/", folder, None, 4096, None)
device = os.open("/dev/fuse", os.O_RDWR)
mount(b"none", folder + "/mnt", b"fuse", 0, f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other".encode())
def attributes(node):
    size, mode = (4096, 0o40755) if node == 1 else (len(program), 0o100755)
    return struct.pack("<6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, 2, 0, 0, 0, 4096, 0)
end, held = os.pipe()
if os.fork() == 0:
    import select
    os.close(held)
    opened = False
    while end not in select.select([device, end], [], [])[0]:
        request = os.read(device, 1 << 18)
        size, what, unique, node = struct.unpack("<IIQQ", request[:24])
        if what == 26:
            body = struct.pack("<IIIIHHIIHHI7I", 7, 26, 0, 0, 9, 9, 4096, 1, 0, 0, 0, *[0] * 7)
        elif what == 3:
            body = struct.pack("<QII", 1000, 0, 0) + attributes(node)
        elif what == 1:
            body = struct.pack("<QQQQII", 2, 0, 1000, 1000, 0, 0) + attributes(2)
        elif what == 14 and not opened:
            opened = True
            body = struct.pack("<QII", 1, 2, 0)
        elif what == 15:
            at, n = struct.unpack("<QI", request[48:60])
            body = program[at:at + n]
        else:
            if what not in (2, 14):
                os.write(device, struct.pack("<IiQ", 16, -38, unique))
            continue
        os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
    os._exit(0)
os.close(device)
os.set_inheritable(held, True)
os.chroot(folder)
os.chdir("/")
print(flush=True)
os.execv("/mnt/program", ["program"])
"""
# Overlays whose lower layer is a FUSE with one folder. "layers": one overlay is inside another. "root": an overlay is
# the root of a process, with Argo's template on a mount inside it. The FUSE answers until the overlays are mounted, and
# again when a line comes; its answers are not cached. The mount table shows no FUSE on the way. All processes end with
# the input.
LAYERS = """
import ctypes, os, platform, struct, sys
kernel = ctypes.CDLL(None, use_errno=True)
folder, what_for = sys.argv[1:3]
def mount(place, kind, options):
    if kernel.mount(b"none", place.encode(), kind, 0, options.encode()):
        sys.exit(f"mount {place}: " + os.strerror(ctypes.get_errno()))
mount(folder, b"tmpfs", "")
for name in ("fuse", "upper", "work", "upper2", "work2", "top"):
    os.mkdir(f"{folder}/{name}")
device = os.open("/dev/fuse", os.O_RDWR)
mount(folder + "/fuse", b"fuse", f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other")
attributes = lambda node: struct.pack("<6Q10I", node, 4096, 8, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
ends, held = os.pipe()
go_on, asked = os.pipe()
def answer(request):
    size, what, unique, node = struct.unpack("<IIQQ", request[:24])
    body, error = b"", 0
    if what == 26:
        body = struct.pack("<IIIIHHIIHHI7I", 7, 26, 0, 0, 9, 9, 4096, 1, 0, 0, 0, *[0] * 7)
    elif what == 3:
        body = struct.pack("<QII", 0, 0, 0) + attributes(node)
    elif what == 1 and request[40:size] == b"mnt\\0":
        body = struct.pack("<QQQQII", 2, 0, 0, 0, 0, 0) + attributes(2)
    elif what in (14, 27):
        body = struct.pack("<QII", 0, 0, 0)
    elif what == 17:
        body = struct.pack("<5Q10I", 1000, 1000, 1000, 1000, 1000, 4096, 255, 4096, *[0] * 7)
    elif what != 28:
        error = -2 if what == 1 else -38
    try:
        if what not in (2, 42):
            os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
    except OSError:
        pass  # whoever asked is gone
if os.fork() == 0:
    import select
    os.close(ends)
    os.close(asked)
    later, watched = None, [device, 0, go_on]
    while True:
        ready = select.select(watched, [], [])[0]
        if 0 in ready:
            if not os.read(0, 1):
                os._exit(0)
            for request in later:
                answer(request)
            later = None
        if go_on in ready:
            later = []
            watched.remove(go_on)
            print(flush=True)
        if device in ready:
            request = os.read(device, 1 << 18)
            if later is None:
                answer(request)
            else:
                later.append(request)
os.close(device)
os.close(held)
if what_for == "layers":
    mount(folder + "/top", b"overlay", f"lowerdir={folder}/fuse,upperdir={folder}/upper,workdir={folder}/work")
    mount(folder + "/top/mnt", b"overlay", f"lowerdir=/,upperdir={folder}/upper2,workdir={folder}/work2")
    os.close(asked)
    os.read(ends, 1)
    sys.exit()
mount(folder + "/top", b"overlay", f"lowerdir={folder}/fuse:/,upperdir={folder}/upper,workdir={folder}/work")
os.chdir(folder + "/top")
mount("run", b"tmpfs", "")
os.mkdir("run/argo")
os.mkdir("run/old")
with open("run/argo/template", "w") as template:
    template.write('{"name":"load","inputs":{}}')
os.dup2(ends, 8)
os.dup2(asked, 9)
os.execv("/bin/sh", ["sh", "-c", "pivot_root . run/old && exec sh -c 'exec 9>&-; read end <&8'"])
"""
# A root of its own, like that of a container, with Argo's template on a mount inside it. $1 is a folder for the root,
# and $2 is the kind of the root.
CONTAINER = """
set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
if [ "$2" = overlay ]; then
    mount -t overlay none -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
else
    mount --bind / "$1/root"
fi
cd "$1/root"
mount -t tmpfs none run
mkdir run/argo run/old
echo '{"name":"load","inputs":{}}' >run/argo/template
chmod 444 run/argo/template
pivot_root . run/old
export ARGO_NODE_ID="$3-x7k2p-1234567890"
exec sh -c 'echo; read end'
"""


class Files(Case):
    def setUp(self):
        super().setUp()
        self.mark = "t" + uuid.uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))

    def begin(self, command, environment=None, **options):
        process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                   env={"PATH": os.environ["PATH"], **(environment or {})}, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.stdin.close()
        if process.stdout:
            process.stdout.close()
        process.wait()

    @staticmethod
    def answer(job):
        job.stdin.write(b"\n")
        job.stdin.flush()

    def found(self, server, job_name):
        wait_until(lambda: server.job_value("rightsize_job_active_runs", job_name) == 1, f"a run of {job_name}")

    def looked(self, server):
        """Waits until the server has checked the processes that began before this call."""
        name = f"{self.mark}/" + uuid.uuid4().hex
        self.begin(["sh", "-c", "read end"], {"RIGHTSIZE_JOB_NAME": name})
        self.found(server, name)

    def goes_on(self, server):
        for _ in range(5):
            server.look_at_jobs()

    def begin_in_namespace(self, *command):
        """Starts a job with mounts of its own. The job prints a line when it is ready."""
        job = self.begin(["unshare", "--mount", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not job.stdout.readline():
            job.wait()
            with job.stderr:
                self.skipTest(f"nothing may be mounted here: {job.stderr.read().decode()}")
        self.addCleanup(job.stderr.close)
        return job

    def work(self, name, owner=None):
        folder = self.folder / name
        folder.mkdir()
        (folder / ".command.run").write_text(TASK.format(f"{self.mark}{name}"))
        if owner:
            os.chown(folder, owner, owner)
            os.chown(folder / ".command.run", owner, owner)
        return folder

    def test_a_file_is_found_below_the_folder_and_below_the_root(self):
        server = self.serve("--jobs.recognise")
        self.begin(NAMED, cwd=self.work("FIRST"))
        self.begin(["sh", "-c", "read end", f"{self.work('SECOND')}/.command.sh"])
        for name in ("FIRST", "SECOND"):
            self.found(server, self.mark + name)

    @unittest.skipUnless(AS_ROOT, "only root may become somebody else")
    def test_a_link_leads_to_no_secret(self):
        secret = self.folder / "secret"
        secret.write_text(TASK.format(f"{self.mark}SECRET"))
        secret.chmod(0o600)
        self.folder.chmod(0o755)
        server = self.serve("--jobs.recognise")
        theirs = {"user": SOMEBODY, "group": SOMEBODY, "extra_groups": []}
        for name, fill in (("SOFT", lambda to: to.symlink_to(secret)), ("HARD", lambda to: to.hardlink_to(secret))):
            folder = self.work(name, SOMEBODY)
            (folder / ".command.run").unlink()
            fill(folder / ".command.run")
            self.begin(NAMED, cwd=folder, **theirs)
            self.begin([*NAMED[:-1], f"{folder}/.command.run"], **theirs)
        self.begin(NAMED, cwd=self.work("OWN", SOMEBODY), **theirs)
        self.found(server, f"{self.mark}OWN")
        self.looked(server)
        self.assertEqual([line for line in [*server.get("/metrics").text.splitlines(), *server.log] if "SECRET" in line], [])

    @unittest.skipUnless(AS_ROOT and os.path.exists("/dev/fuse"), "only root may mount a FUSE for all")
    def test_a_folder_that_never_answers_is_not_asked(self):
        server = self.serve("--jobs.recognise")
        folder = self.folder / "dead"
        folder.mkdir()
        for hidden in ("", "covered", "detached"):
            self.begin_in_namespace(PYTHON, "-S", "-E", "-c", NEVER_ANSWERS, str(folder), hidden)
            self.looked(server)
        self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(AS_ROOT and os.path.exists("/dev/fuse"), "only root may mount a FUSE for all")
    def test_a_program_that_never_answers_is_not_read(self):
        server = self.serve("--jobs.recognise")
        folder = self.folder / "root"
        folder.mkdir()
        name = f"{self.mark}/" + uuid.uuid4().hex
        job = self.begin_in_namespace("env", f"RIGHTSIZE_JOB_NAME={name}", PYTHON, "-S", "-E", "-c", OPENS_ONCE, str(folder))
        wait_until(lambda: os.readlink(f"/proc/{job.pid}/exe").endswith("/mnt/program"), "the program")
        self.found(server, name)
        self.looked(server)
        self.goes_on(server)
        # A process that waits for a FUSE's answer ends only when the FUSE ends, even after SIGKILL.
        self.end(job)
        self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(AS_ROOT and os.path.exists("/dev/fuse"), "only root may mount a FUSE for all")
    def test_layers_that_do_not_answer_are_not_waited_for(self):
        folder = self.folder / "layers"
        folder.mkdir()
        name = f"{self.mark}/" + uuid.uuid4().hex
        job = self.begin_in_namespace("env", f"RIGHTSIZE_JOB_NAME={name}", PYTHON, "-S", "-E", "-c", LAYERS, str(folder), "layers")
        server = self.serve("--jobs.recognise")
        self.found(server, name)
        self.looked(server)
        self.goes_on(server)
        self.assertIsNotNone(server.job_value("rightsize_job_disk_grown_bytes", name))
        self.assertEqual(server.metrics()["rightsize_processes_unanswered", frozenset()], 1)
        self.answer(job)
        wait_until(lambda: server.metrics()["rightsize_processes_unanswered", frozenset()] == 0, "the layers to answer")
        self.end(job)
        self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(AS_ROOT and os.path.exists("/dev/fuse") and shutil.which("pivot_root"), "only root may mount a FUSE for all")
    def test_a_job_named_below_layers_is_found_when_they_answer(self):
        folder = self.folder / "root"
        folder.mkdir()
        job = self.begin_in_namespace("env", f"ARGO_NODE_ID={self.mark}-x7k2p-1234567890", PYTHON, "-S", "-E", "-c", LAYERS,
                                      str(folder), "root")
        server = self.serve("--jobs.recognise")
        self.looked(server)
        self.goes_on(server)
        self.assertIsNone(server.job_value("rightsize_job_active_runs", f"{self.mark}/load"))
        self.answer(job)
        self.found(server, f"{self.mark}/load")
        self.end(job)
        self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(AS_ROOT and shutil.which("pivot_root"), "only root may give a process a root of its own")
    def test_a_template_is_found_in_the_files_of_its_container(self):
        server = self.serve("--jobs.recognise")
        folder = self.folder / "container"
        folder.mkdir()
        for kind in ("bind", "overlay"):
            with self.subTest(kind=kind):
                self.begin_in_namespace("sh", "-c", CONTAINER, "sh", str(folder), kind, self.mark + kind)
                self.found(server, f"{self.mark}{kind}/load")


if __name__ == "__main__":
    main()
