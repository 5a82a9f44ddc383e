"""Steps that run as pods: a foreach, one that is killed for memory at first, one that fails."""
import time

from metaflow import FlowSpec, Parameter, catch, current, retry, step


class PodsFlow(FlowSpec):
    mib = Parameter("mib", default=200)
    kill = Parameter("kill", default=False)

    @step
    def start(self):
        self.parts = [100, 150, 200]
        self.next(self.fit, foreach="parts")

    @step
    def fit(self):
        held = bytearray(b"x") * (self.input << 20)
        time.sleep(3)
        del held
        self.next(self.join)

    @step
    def join(self, inputs):
        self.next(self.grow)

    @retry(times=3, minutes_between_retries=0)
    @step
    def grow(self):
        time.sleep(2)
        need = 1 << 15 if self.kill and current.retry_count == 0 else self.mib
        held = []
        while len(held) < need:
            held.append(bytearray(b"x") * (1 << 20))
            time.sleep(0.002)
        time.sleep(2)
        del held
        self.next(self.fail)

    @catch(var="failure")
    @step
    def fail(self):
        if self.mib:
            raise ValueError("wrong")
        self.next(self.end)

    @step
    def end(self):
        assert self.failure


if __name__ == "__main__":
    PodsFlow()
