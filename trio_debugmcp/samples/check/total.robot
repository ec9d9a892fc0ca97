*** Test Cases ***
Total
    VAR    ${total}    ${42}
    Log To Console    total ${total}    # stop: ${total} is 42
