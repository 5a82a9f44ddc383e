"""Users of --web.config.file: right and wrong passwords, the cost of guessing, and the rights of users."""
import base64
import concurrent.futures
import contextlib
import http.client
import json
import time

from support import DEADLINE, main, wait_until
from web_configured import USERS, WebConfigured, basic, bcrypt


class WebUsers(WebConfigured):
    def test_users(self):
        server = self.serve_with(USERS.format(quick=self.quick, slow=self.slow))
        for authorization, status in (
                (None, 401), (basic("carol", "carol123"), 200), (basic("alice", "alice123"), 200),
                (basic("carol", "alice123"), 401), (basic("carol", ""), 401), (basic("nobody", "carol123"), 401),
                (basic("carol", "carol123").replace("Basic", "bASIC"), 200), (basic("carol", "carol123") + "  ", 200),
                (basic("carol", "carol123") + "x", 401), ("Basic " + base64.b64encode(b"carol").decode(), 401),
                ("Basic " + base64.b64encode(b"carol:carol123\0").decode(), 401), ("BasicY2Fyb2w6Y2Fyb2wxMjM=", 401),
                (basic("", ""), 401), ("Basic !!!", 401), ("Basic", 401), ("Bearer carol", 401),
                (basic("carol", "x" * 4000), 401)):
            with self.subTest(authorization=authorization and authorization[:40]):
                answer = server.get("/metrics", **({"Authorization": authorization} if authorization else {}))
                self.assertEqual(answer.status, status)
                if status == 401:
                    self.assertTrue(answer.headers["WWW-Authenticate"].startswith("Basic"))
                    self.assertEqual(answer.json["error"]["code"], "unauthorized")
                    self.assertNotIn(b"rightsize_", answer.body)
        self.assertNotIn("carol123", "".join(server.log))

    def test_users_may_change_something_and_no_page_of_theirs(self):
        server = self.serve_with(USERS.format(quick=self.quick, slow=self.slow))
        carol = {"Authorization": basic("carol", "carol123"), "Host": "exporter.example"}
        for headers, status, said in (
                ({}, 401, "unauthorized"), ({**carol, "Authorization": basic("carol", "x")}, 401, "unauthorized"),
                ({**carol, "Origin": "http://elsewhere.example"}, 403, "cross_origin"),
                ({**carol, "Sec-Fetch-Site": "cross-site"}, 403, "cross_origin"),
                (carol, 400, "run_id is missing"), ({**carol, "Origin": "http://exporter.example"}, 400, "run_id is missing")):
            with self.subTest(headers=headers), \
                    contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)) as connection:
                connection.request("POST", "/runs", b"{}", {"Content-Type": "application/json", **headers})
                answer = connection.getresponse()
                self.assertIn(said, answer.read().decode())
                self.assertEqual(answer.status, status)

    def test_a_password_never_holds_up_a_scrape(self):
        """Known scrapers are served while a guesser keeps bcrypt busy. The guesser is told to wait."""
        server = self.serve_with(USERS.format(quick=self.quick, slow=self.slow))
        carol = basic("carol", "carol123")
        self.assertEqual(server.get("/metrics", Authorization=carol).status, 200)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            guesses = [pool.submit(server.get, "/metrics", Authorization=basic("alice", f"guess {i}")) for i in range(24)]
            scrapes = 0
            while not all(guess.done() for guess in guesses):
                self.assertEqual(server.get("/metrics", Authorization=carol).status, 200)
                scrapes += 1
            statuses = {guess.result().status for guess in guesses}
        self.assertLessEqual(statuses, {401, 503})
        self.assertIn(503, statuses)
        # One guess takes far longer than a scrape. If scrapes waited for guesses, there would be as few scrapes as
        # guesses.
        self.assertGreater(scrapes, 24)

    def test_a_serial_guesser_is_slowed_and_nobody_else(self):
        """One client sends one password after the other, as fast as they are answered: ten, and one more each
        second."""
        server = self.serve_with(USERS.format(quick=self.quick, slow=bcrypt("alice123", 4)))

        def statuses(source, *passwords):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE,
                                                               source_address=(source, 0))) as connection:
                for name, password in passwords:
                    connection.request("GET", "/-/healthy", headers={"Authorization": basic(name, password)})
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status == 503:
                        self.assertEqual(answer.headers["Retry-After"], "1")
                        self.assertEqual(json.loads(body)["error"]["code"], "too_many_failures")
                    yield answer.status

        def guesses(first, number):
            return (("carol", f"guess {i}") for i in range(first, first + number))
        carol, alice = ("carol", "carol123"), ("alice", "alice123")
        scraper = statuses("127.0.0.1", *[carol] * 102)
        self.assertEqual(next(scraper), 200)
        begin, refused = time.monotonic(), []
        for status in statuses("127.0.0.1", *guesses(0, 100)):
            refused.append(status)
            self.assertEqual(next(scraper), 200)
        self.assertEqual(refused[:10], [401] * 10)
        self.assertLessEqual(refused.count(401), 10 + time.monotonic() - begin + 1)
        self.assertGreater(refused.count(503), 0)
        # As many guesses come from another address. Then even a password that is right elsewhere gives no quick answer.
        # If ten took a second, one more is allowed.
        places = iter(range(2, 200))

        def right_after_ten():
            place = next(places)
            *wrong, right = statuses(f"127.0.0.{place}", *guesses(100 * place, 10), carol)
            self.assertEqual(wrong, [401] * 10)
            return right
        wait_until(lambda: right_after_ten() == 503, "a right password to be refused")
        # A client with the right password that was never here waits its turn.
        wait_until(lambda: list(statuses("127.0.0.1", alice)) == [200], "the turn of another user")
        self.assertEqual(next(scraper), 200)

    def test_ends_at_once_while_a_password_is_computed(self):
        server = self.serve_with(USERS.format(quick=self.quick, slow=bcrypt("alice123", 4).replace("$04$", "$17$")))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            guesses = [pool.submit(server.get, "/metrics", Authorization=basic("alice", word)) for word in "xy"]
            wait_until(lambda: any(guess.done() for guess in guesses), "the second to be refused")
            self.assertEqual(server.stop(), 0)
            for guess in guesses:
                with contextlib.suppress(ConnectionError, http.client.HTTPException):
                    self.assertEqual(guess.result().status, 503)


if __name__ == "__main__":
    main()
