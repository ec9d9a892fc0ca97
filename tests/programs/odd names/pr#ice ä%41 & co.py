price = 1
print(price)  # here
