"""Secrets of every form, made up at random, and texts that only look like some."""

import base64
import json
import random

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
HEX = "0123456789abcdef"

_random = random.Random(12)


def word(length: int, letters: str = LETTERS + DIGITS) -> str:
    return "".join(_random.choices(letters, k=length))


def pem(kind: str = "RSA PRIVATE KEY", end: str = "\n") -> str:
    text = base64.b64encode(_random.randbytes(400)).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return end.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


def _json64(**value: str) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = ".".join([_json64(alg="HS256", typ="JWT"), _json64(sub="1234567890", name="ann"), word(43)])

GITHUB = "ghp_" + word(36)

SECRETS: list[tuple[str, str]] = [
    *(("GitHub token", f"gh{kind}_{word(36)}") for kind in "pousr"),
    ("GitHub token", f"github_pat_{word(22)}_{word(59)}"),
    *(("GitLab token", f"{prefix}-{word(20)}") for prefix in ("glpat", "gldt", "glft", "glsoat", "glrt")),
    ("GitLab token", "GR1348941" + word(20)),
    ("GitLab token", "glcbt-1f_" + word(24)),
    ("GitLab token", "glimt-" + word(25)),
    ("GitLab token", "glptt-" + word(40)),
    ("GitLab token", "glagent-" + word(50)),
    ("GitLab token", "gloas-" + word(64)),
    *(("AWS access key", prefix + word(16, LETTERS[:26] + DIGITS)) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    ("Azure storage key", "AccountKey=" + word(86) + "=="),
    ("Artifactory token", "AKCp" + word(69)),
    ("Discord token", f"MTE{word(22)}.{word(6)}.{word(27)}"),
    ("Mailchimp key", word(32, HEX) + "-us12"),
    ("OpenAI key", f"sk-{word(20)}T3BlbkFJ{word(20)}"),
    ("OpenAI key", "sk-proj-" + word(120)),
    ("Anthropic key", "sk-ant-api03-" + word(93)),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc" + word(120)),
    ("PyPI token", "pypi-AgENdGVzdC5weXBpLm9yZw" + word(120)),
    ("SendGrid key", f"SG.{word(22)}.{word(43)}"),
    ("Slack token", f"xoxb-{word(12, DIGITS)}-{word(12, DIGITS)}-{word(24)}"),
    ("Slack token", f"xapp-1-A{word(10)}-{word(13, DIGITS)}-{word(64, HEX)}"),
    ("Slack token", f"https://hooks.slack.com/services/T{word(8)}/B{word(8)}/{word(24)}"),
    ("Square secret", "sq0csp-" + word(43)),
    ("Stripe key", "sk_live_" + word(24)),
    ("Stripe key", "rk_test_" + word(24)),
    ("Telegram token", f"{word(10, DIGITS)}:AA{word(33)}"),
    ("Twilio key", "SK" + word(32, HEX)),
    ("Google key", "AIza" + word(35)),
    ("Google token", "ya29." + word(60)),
    ("Google secret", "GOCSPX-" + word(28)),
    ("Hugging Face token", "hf_" + word(34)),
    ("npm token", "npm_" + word(36)),
    ("DigitalOcean token", "dop_v1_" + word(64, HEX)),
    ("Docker token", "dckr_pat_" + word(27)),
    ("Databricks token", "dapi" + word(32, HEX)),
    ("Grafana token", f"glsa_{word(32)}_{word(8, HEX)}"),
    ("Grafana token", "glc_eyJ" + word(80)),
    ("Vault token", "hvs." + word(90)),
    ("Shopify token", "shpat_" + word(32, HEX)),
    ("RubyGems key", "rubygems_" + word(48, HEX)),
    ("Groq key", "gsk_" + word(52)),
    ("Sentry token", "sntrys_eyJ" + word(80)),
    ("Atlassian token", "ATATT3" + word(180)),
    ("Tailscale key", f"tskey-auth-{word(12)}-{word(32)}"),
    ("age key", "AGE-SECRET-KEY-1" + word(58, LETTERS[:26] + DIGITS)),
    ("JSON Web Token", JWT),
    ("private key", pem()),
    ("private key", pem("PRIVATE KEY")),
    ("private key", pem("OPENSSH PRIVATE KEY", "\r\n")),
    ("private key", pem("PGP PRIVATE KEY BLOCK")),
]
"""Each with its label."""

HARMLESS = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "/usr/lib/python3.11/site-packages/some_package/tests/test_token_authentication.py:1234",
    "https://example.org:8080/path/to/page?key=value&token=none#fragment",
    "ssh://git@github.com:22/owner/name.git",
    "postgres://user:password@localhost:5432/test",
    "http://user:$PASSWORD@host/",
    "The secret: passwords should be long, and tokens should be random.",
    "token = 'identifier'",
    "password='hunter2'",
    "auth = get_auth_from_url(url)",
    "token = base64.b64decode(text)",
    "secret = self._decode_base64_2[3]",
    "auth=auth_tests.CustomUserWithM2MThrough",
    "token_handler='GoogleOAuth2TokenHandler'",
    "{'password': 'dummy-auth-test-ok'}",
    "headers = ['Authorization', 'Proxy-Authorization']",
    "Authorization: Digest username=ann",
    "Authorization: Token faketoken",
    "authorization = proxy_auth_value",
    "tokens = tokenizer.tokenize('the quick brown fox')",
    "password = getpass.getpass('Password for the database: ')",
    "SECRET_KEY = 'change-me-in-production-please'",
    "api_key_file = '/etc/keys/9f86d081884c7d659a2feaa0c55ad015'",
    "token_id=9f86d081884c7d659a2feaa0c55ad015",
    "key = '9f86d081884c7d659a2feaa0c55ad015'",
    "cache_key: 9f86d081884c7d659a2feaa0c55ad015",
    "Authorization: Bearer <token>",
    "raise NotImplementedError('authentication with a private key')",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "ghp_" + 36 * "x",
    "AKIA" + 16 * "0",
    "ghp_short",
    "an eyJ in a word, sk-learn, hf_hub and xoxo-1",
    "DISKSPACE SKETCHES AKCESS ASIAN AIzawa",
    "3.141592653589793238462643383279502884197",
    "password = 12345678901234567890",
    "access_token=0x7f3a5c0d1e20",
    "<Token object at 0x7f3a5c0d1e20>",
    "",
]
