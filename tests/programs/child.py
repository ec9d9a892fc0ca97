import sys

word = sys.argv[1]
doubled = word * 2
print(doubled)
sys.exit(3)
