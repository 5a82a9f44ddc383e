"""Steps whose requests are tuned, one with a bound."""
import time

from metaflow import FlowSpec, resources, rightsize, step


class TunedFlow(FlowSpec):
    @rightsize(tune=True, min_memory=128)
    @resources(cpu=4, memory=8192)
    @step
    def start(self):
        held = bytearray(200 * 1024 * 1024)
        until = time.process_time() + 0.7
        while time.process_time() < until:
            pass
        del held
        self.next(self.end)

    @rightsize(tune=True, max_memory=150)
    @step
    def end(self):
        held = bytearray(150 * 1024 * 1024)
        until = time.process_time() + 0.7
        while time.process_time() < until:
            pass
        del held


if __name__ == "__main__":
    TunedFlow()
