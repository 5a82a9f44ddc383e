"""Doubles of the clouds' metadata services, each as its vendor documents it, with made-up machines.

    with MetadataDouble("aws") as double: ...

Serves on the vendor's own link-local address, port 80, which must be an address of this network namespace. It refuses
the same requests as the vendor: a missing token or header, an unknown path. double.asked holds "METHOD path" of each
request."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINK_LOCAL = "169.254.169.254"
ALIBABA = "100.100.100.200"
TOKEN = "AQAAANTI0uKMW8kTyPq-0=="


def aws(handler, method, path):
    headers = handler.headers
    if path == "/latest/api/token":
        if method != "PUT":
            return 405, ""
        seconds = headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        return (200, TOKEN) if seconds.isdigit() and 1 <= int(seconds) <= 21600 else (400, "")
    if headers.get("X-aws-ec2-metadata-token") != TOKEN:
        return 401, ""
    document = {"accountId": "123456789012", "architecture": "x86_64", "availabilityZone": "eu-west-1b",
                "billingProducts": None, "imageId": "ami-5fb8c835", "instanceId": "i-1234567890abcdef0",
                "instanceType": "m7i.large", "kernelId": None, "pendingTime": "2026-11-19T16:32:11Z",
                "privateIp": "10.158.112.84", "region": "eu-west-1", "version": "2017-09-30"}
    return {"/latest/dynamic/instance-identity/document": (200, json.dumps(document, indent=2)),
            "/latest/meta-data/instance-life-cycle": (200, "spot")}.get(path, (404, ""))


def gcp(handler, method, path):
    if method != "GET" or handler.headers.get("Metadata-Flavor") != "Google":
        return 403, "<html>Your client does not have permission</html>"
    return {"/computeMetadata/v1/instance/machine-type": (200, "projects/123456/machineTypes/n2-standard-4"),
            "/computeMetadata/v1/instance/zone": (200, "projects/123456/zones/europe-west4-a"),
            "/computeMetadata/v1/instance/scheduling/preemptible": (200, "FALSE")}.get(path, (404, ""))


def azure(handler, method, path):
    if handler.headers.get("Metadata") != "true" or handler.headers.get("X-Forwarded-For"):
        return 400, '{"error": "Bad request. Required metadata header not specified"}'
    if method != "GET" or path != "/metadata/instance/compute?api-version=2021-02-01":
        return 404, ""
    return 200, json.dumps({"azEnvironment": "AzurePublicCloud", "evictionPolicy": "Delete", "location": "westeurope",
                            "name": "worker", "osType": "Linux", "priority": "Spot", "tags": "team:etl",
                            "vmId": "02aab8a4-74ef-476e-8182-f6d2ba4166a6", "vmSize": "Standard_D4s_v5", "zone": "2"})


def hcloud(handler, method, path):
    return {"/hetzner/v1/metadata": (200, "availability-zone: nbg1-dc3\nhostname: worker\ninstance-id: 33291172\n"
                                          "public-ipv4: 192.0.2.10\nregion: eu-central\npublic-keys: []\n"),
            }.get(path, (404, ""))


def upcloud(handler, method, path):
    return {"/metadata/v1.json": (200, json.dumps({"cloud_name": "upcloud", "hostname": "worker", "platform": "servers",
                                                   "instance_id": "00133099-4cf4", "region": "fi-hel1"}))
            }.get(path, (404, ""))


def ovh(handler, method, path):
    network = {"links": [], "networks": [], "services": [{"type": "dns", "address": "213.186.33.99"}]}
    return {"/openstack/latest/network_data.json": (200, json.dumps(network)),
            "/openstack/latest/meta_data.json": (200, json.dumps({"availability_zone": "eu-west-par-a", "uuid": "1"})),
            "/latest/meta-data/instance-type": (200, "b3-8")}.get(path, (404, ""))


def other_openstack(handler, method, path):
    network = {"services": [{"type": "dns", "address": "192.0.2.53"}]}
    return {"/openstack/latest/network_data.json": (200, json.dumps(network)),
            "/latest/meta-data/instance-type": (200, "m1.small")}.get(path, (404, ""))


def alicloud(handler, method, path):
    headers = handler.headers
    if path == "/latest/api/token":
        seconds = headers.get("X-aliyun-ecs-metadata-token-ttl-seconds", "")
        return (200, TOKEN) if method == "PUT" and seconds.isdigit() and int(seconds) <= 21600 else (400, "")
    if headers.get("X-aliyun-ecs-metadata-token") != TOKEN:
        return 403, ""
    return {"/latest/meta-data/instance/instance-type": (200, "ecs.c8a.large"),
            "/latest/meta-data/region-id": (200, "eu-central-1"),
            "/latest/meta-data/zone-id": (200, "eu-central-1a")}.get(path, (404, ""))


def vultr(handler, method, path):
    return {"/v1.json": (200, json.dumps({"hostname": "worker", "instance-v2-id": "36e9cf60-5d93", "instanceid": "42",
                                          "region": {"countrycode": "US", "regioncode": "EWR"}}))
            }.get(path, (404, ""))


def silent(handler, method, path):
    """Accepts the connection and never answers."""
    handler.server.closing.wait()
    return 500, ""


VENDORS = {f.__name__: f for f in (aws, gcp, azure, hcloud, upcloud, ovh, other_openstack, alicloud, vultr, silent)}
CHUNKED = {"azure", "upcloud"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, method):
        self.server.asked.append(f"{method} {self.path}")
        status, body = VENDORS[self.server.vendor](self, method, self.path)
        data = body.encode()
        self.send_response(status)
        if self.server.vendor in CHUNKED:
            self.send_header("Transfer-Encoding", "chunked")
            middle = len(data) // 2
            pieces = [p for p in (data[:middle], data[middle:]) if p]
            data = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer("GET")

    def do_PUT(self):
        self.answer("PUT")

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # all vendors are queried at once: a queue of 5 (the default) would drop the last of 7 connections
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Ignores a client that closed the connection."""


class MetadataDouble:
    def __init__(self, vendor):
        self.server = Server((ALIBABA if vendor == "alicloud" else LINK_LOCAL, 80), Handler)
        self.server.vendor, self.server.asked, self.server.closing = vendor, [], threading.Event()

    @property
    def asked(self):
        return self.server.asked

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.closing.set()
        self.server.shutdown()
        self.server.server_close()
