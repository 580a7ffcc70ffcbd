"""Asks the servers behind SERVER which models they have, and each model QUESTION; fails unless each answers."""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

HINTS = {
    401: "put the servers' key into the Secret api-key, under the name key",
    404: "is SERVER the Service of a language model?",
}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        for model in wait_for_models():
            print(f"{model}: {ask_model(model)!r}", flush=True)
    except urllib.error.HTTPError as error:
        text = error.read(1000).decode("utf-8", "replace")
        sys.exit(f"smoke_test: {error.url}: {error} {text}: {HINTS.get(error.code, 'see the log of the servers')}")


def wait_for_models():
    """Return the names of the models, as soon as a server has loaded."""
    until, said = time.monotonic() + float(os.environ["WAIT_SECONDS"]), ""
    while True:
        try:
            return [each["id"] for each in send("/v1/models")["data"]]
        except urllib.error.HTTPError:
            raise
        except OSError as error:
            problem = f"{server()} does not answer: {error}"
        if time.monotonic() > until:
            sys.exit(f"smoke_test: {problem}. Set SERVER to the name of the servers' Service, or see their log")
        if problem != said:
            print(f"waiting: {problem}", flush=True)
        said = problem
        time.sleep(float(os.environ.get("PAUSE_SECONDS", "5")))


def ask_model(model):
    """Return an answer; a model that no chat was described for goes on with the text."""
    question = os.environ["QUESTION"]
    try:
        messages = [{"role": "user", "content": question}]
        answer = send("/v1/chat/completions", {"model": model, "messages": messages, "max_tokens": 32})
        return answer["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        if error.code != 400:
            raise
    return send("/v1/completions", {"model": model, "prompt": question, "max_tokens": 32})["choices"][0]["text"]


def server():
    return f"http://{os.environ['SERVER']}:{os.environ.get('SERVER_PORT', '8000')}"


def send(path, body=None):
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a Service is behind no proxy
    with direct.open(urllib.request.Request(server() + path, data, headers), timeout=600) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
