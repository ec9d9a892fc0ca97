"""Makes `trio_debugmcp/masking/detect_secrets.json` from the rules of detect-secrets, as released on PyPI.

    python scripts/_secret_rules.py             # downloads the wheel with pip; nothing of it is run

The rules are read from the syntax tree of its plugins. What is not there is added here: a short label, and the strings
of which each match has one, so that most texts are not searched at all. What is left out: docs/security.md.
"""

import ast
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

VERSION = "1.5.0"

HOME = Path(__file__).resolve().parent.parent / "trio_debugmcp" / "masking"

WANTED: dict[str, tuple[str, dict[int, list[str]]]] = {
    "aws": ("AWS access key", {0: ["A3T", "ABIA", "ACCA", "AKIA", "ASIA"]}),
    "azure_storage_key": ("Azure storage key", {0: ["AccountKey="]}),
    "discord": ("Discord token", {0: ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"]}),
    "github_token": ("GitHub token", {0: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]}),
    "gitlab_token": (
        "GitLab token",
        {
            0: ["glpat-", "gldt-", "glft-", "glsoat-", "glrt-"],
            1: ["GR1348941"],
            2: ["glcbt-"],
            3: ["glimt-"],
            4: ["glptt-"],
            5: ["glagent-"],
            6: ["gloas-"],
        },
    ),
    "mailchimp": ("Mailchimp key", {0: ["-us"]}),
    "openai": ("OpenAI key", {0: ["T3BlbkFJ"]}),
    "pypi_token": ("PyPI token", {0: ["pypi-AgEIcHlwaS5vcmc"], 1: ["pypi-AgENdGVzdC5weXBpLm9yZw"]}),
    "sendgrid": ("SendGrid key", {0: ["SG."]}),
    "slack": ("Slack token", {0: ["xox"], 1: ["hooks.slack.com"]}),
    "square_oauth": ("Square secret", {0: ["sq0csp-"]}),
    "stripe": ("Stripe key", {0: ["k_live_"]}),
    "telegram_token": ("Telegram token", {0: [":AA"]}),
    "twilio": ("Twilio key", {1: ["SK"]}),
}
"""By plugin: the label, and by place in its list the strings of which a match has one."""


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", directory]
        subprocess.run([*command, f"detect-secrets=={VERSION}"], check=True, timeout=120)
        [wheel] = Path(directory).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            rules = [rule for plugin in WANTED for rule in plugin_rules(archive, plugin)]
            licence = archive.read(f"detect_secrets-{VERSION}.dist-info/LICENSE").decode()
    (HOME / "detect_secrets.LICENSE").write_text(licence)
    head = {
        "source": f"detect-secrets {VERSION}, https://github.com/Yelp/detect-secrets",
        "licence": "Apache-2.0, see detect_secrets.LICENSE",
        "changes": "a selection, with labels and keywords added, made by scripts/_secret_rules.py",
    }
    lines = ",\n  ".join(json.dumps(rule) for rule in rules)
    text = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    (HOME / "detect_secrets.json").write_text(f'{{{text},\n "rules": [\n  {lines}\n ]}}\n')
    print(f"{len(rules)} rules")


def plugin_rules(archive: zipfile.ZipFile, plugin: str) -> list[dict[str, Any]]:
    label, wanted = WANTED[plugin]
    tree = ast.parse(archive.read(f"detect_secrets/plugins/{plugin}.py"))
    [value] = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == ["denylist"]
    ]
    assert isinstance(value, ast.List | ast.Tuple)
    rules = []
    for number, keywords in wanted.items():
        call = value.elts[number]
        assert isinstance(call, ast.Call), ast.unparse(call)
        flags = "".join(ast.unparse(each.value) for each in call.keywords)
        rules.append(
            {
                "label": label,
                "keywords": keywords,
                "pattern": ast.literal_eval(call.args[0]),
                "any_case": "IGNORECASE" in flags,
            }
        )
    return rules


if __name__ == "__main__":
    main()
