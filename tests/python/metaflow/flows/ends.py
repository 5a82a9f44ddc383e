"""Steps that end in other ways than well."""
import os
import signal
import time

from metaflow import FlowSpec, Parameter, catch, current, retry, rightsize, step, timeout


class EndsFlow(FlowSpec):
    fail = Parameter("fail", default=False)

    @step
    def start(self):
        self.next(self.killed)

    @rightsize
    @retry(times=1, minutes_between_retries=0)
    @step
    def killed(self):
        time.sleep(1.5)
        if current.retry_count == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.next(self.caught)

    @catch(var="failure")
    @rightsize
    @step
    def caught(self):
        time.sleep(0.3)
        if self.fail is not None:
            raise ValueError("wrong")
        self.next(self.late)

    @rightsize
    @catch(var="too_late")
    @timeout(seconds=2)
    @step
    def late(self):
        time.sleep(20)
        self.next(self.end)

    @rightsize
    @step
    def end(self):
        assert self.failure and self.too_late
        if self.fail:
            raise RuntimeError("the last step fails")


if __name__ == "__main__":
    EndsFlow()
