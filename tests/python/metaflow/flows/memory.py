"""A step that is killed when it needs more than its request, as a pod is."""
import os
import signal
import time

from metaflow import FlowSpec, Parameter, resources, retry, rightsize, step


class MemoryFlow(FlowSpec):
    mib = Parameter("mib", default=150)

    @rightsize(tune=True, live=0)
    @retry(times=3, minutes_between_retries=0)
    @resources(cpu=1, memory=4096)
    @step
    def start(self):
        most = int(os.environ["RIGHTSIZE_REQUEST_MEMORY"]) - (60 << 20)  # what the interpreter needs
        need = self.mib << 20
        held = bytearray(b"x") * min(need, most)
        time.sleep(1.5)
        if need > most:
            os.kill(os.getpid(), signal.SIGKILL)
        del held
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    MemoryFlow()
