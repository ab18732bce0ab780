"""A cluster behind every kind of door, the keys to each, and a small identity provider for one of them."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from key_stores import KeyStores, make_key_stores
from world.kafka import KafkaCluster
from world.server_properties import SASL_MECHANISMS, Security

USER, PASSWORD = "mirror", "scram secret"
CLIENT, CLIENT_SECRET = "mirror-client", "client secret"
_MODULES = "org.apache.kafka.common.security"
LOGINS = {"PLAIN": "plain.PlainLoginModule", "SCRAM-SHA-256": "scram.ScramLoginModule"}
LOGINS["SCRAM-SHA-512"] = LOGINS["SCRAM-SHA-256"]


def login(mechanism: str, user: str = USER, password: str = PASSWORD) -> str:
    """A JAAS line."""
    return f'{_MODULES}.{LOGINS[mechanism]} required username="{user}" password="{password}";'


class Secured:
    """Listeners SSL (which asks for our certificate), SASL_SSL (which does not) and SASL_PLAINTEXT."""

    def __init__(
        self,
        directory: Path,
        *,
        password: str = PASSWORD,
        store_password: str = "store secret",
        key_password: str = "key secret",
    ) -> None:
        oauth = f'{_MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
        self.cluster = KafkaCluster(
            "secured",
            directory,
            security=Security(
                listeners=("SSL", "SASL_SSL", "SASL_PLAINTEXT"), users={USER: password}, client_certificates=True
            ),
            properties={
                "listener.name.sasl_ssl.ssl.client.auth": "none",
                "sasl.enabled.mechanisms": ",".join((*SASL_MECHANISMS, "OAUTHBEARER")),
                # Takes tokens that nobody signed: what is tested is how we get one, not how a broker checks it.
                **{
                    f"listener.name.{door}.oauthbearer.sasl.jaas.config": oauth
                    for door in ("sasl_plaintext", "sasl_ssl")
                },
            },
        )
        self._directory = directory
        self._passwords = {"password": store_password, "key_password": key_password}
        self.stores: KeyStores

    def __enter__(self) -> Secured:
        self.cluster.start()
        self.stores = make_key_stores(self._directory / "stores", self.cluster.certificates, **self._passwords)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cluster.kill()

    def door(self, alias: str, listener: str) -> str:
        """The lines that lead one cluster's clients to a listener."""
        return (
            f"{alias}.bootstrap.servers = {self.cluster.bootstrap(listener)}\n{alias}.security.protocol = {listener}\n"
        )

    def by_login(self, alias: str, mechanism: str, jaas: str, listener: str = "SASL_SSL", kind: str = "JKS") -> str:
        trust = self.stores.lines(alias, kind, identity=False) if listener.endswith("SSL") else ""
        lines = f"{alias}.sasl.mechanism = {mechanism}\n{alias}.sasl.jaas.config = {jaas}\n"
        return self.door(alias, listener) + trust + lines

    def by_certificate(self, alias: str, kind: str) -> str:
        return self.door(alias, "SSL") + self.stores.lines(alias, kind)

    def by_token(self, alias: str, endpoint: str, secret: str = CLIENT_SECRET) -> str:
        module = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule"
        jaas = f'{module} required clientId="{CLIENT}" clientSecret="{secret}" scope="kafka";'
        url = f"{alias}.sasl.oauthbearer.token.endpoint.url = {endpoint}\n"
        return self.by_login(alias, "OAUTHBEARER", jaas, listener="SASL_PLAINTEXT") + url


class TokenEndpoint:
    """Gives unsigned tokens to the one client that it knows; `asked` has the scope of each request."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                endpoint.answer(self, urllib.parse.parse_qs(body))

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/token"

    def answer(self, request: BaseHTTPRequestHandler, form: dict[str, list[str]]) -> None:
        known = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        is_known = request.headers["Authorization"] == f"Basic {known}"
        if is_known:
            self.asked.append("".join(form.get("scope", [])))
        now = int(time.time())
        claims = {"sub": CLIENT, "iat": now, "exp": now + 600, "scope": "kafka"}
        token = f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."
        granted = {"access_token": token, "token_type": "bearer", "expires_in": 600}
        data = json.dumps(granted if is_known else {"error": "invalid_client"}).encode()
        request.send_response(200 if is_known else 401)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _encoded(document: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")
