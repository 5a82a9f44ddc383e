"""A step that holds 300 MiB, under @rightsize or, with TRACK set, under the name of resource-tracker."""
import os
import time

from metaflow import FlowSpec, rightsize, step, track_resources

watched = track_resources if os.environ.get("TRACK") else rightsize


class MinimalFlow(FlowSpec):
    @step
    def start(self):
        self.next(self.work)

    @watched
    @step
    def work(self):
        held = bytearray(300 * 1024 * 1024)
        time.sleep(2.5)
        del held
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    MinimalFlow()
