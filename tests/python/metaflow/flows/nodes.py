"""Three nodes of @parallel."""
import time

from metaflow import FlowSpec, parallel, rightsize, step


class NodesFlow(FlowSpec):
    @step
    def start(self):
        self.next(self.multi, num_parallel=3)

    @rightsize
    @parallel
    @step
    def multi(self):
        held = bytearray(100 * 1024 * 1024)
        time.sleep(2)
        del held
        self.next(self.join)

    @step
    def join(self, inputs):
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    NodesFlow()
