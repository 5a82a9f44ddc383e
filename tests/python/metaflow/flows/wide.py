"""A foreach of 20 tasks, and a join that merges what they have."""
import time

from metaflow import FlowSpec, rightsize, step


class WideFlow(FlowSpec):
    @step
    def start(self):
        self.parts = list(range(20))
        self.next(self.fit, foreach="parts")

    @rightsize(live=0)
    @step
    def fit(self):
        self.same = 1
        held = bytearray((50 + self.input) * 1024 * 1024)
        time.sleep(0.5)
        del held
        self.next(self.join)

    @step
    def join(self, inputs):
        self.merge_artifacts(inputs)
        self.next(self.end)

    @step
    def end(self):
        assert self.same == 1


if __name__ == "__main__":
    WideFlow()
