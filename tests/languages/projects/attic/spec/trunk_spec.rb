describe Trunk do
  it "adds counts up" do
    trunk = Trunk.new
    trunk.put("hat", 2)
    trunk.put("hat", 3)
    expect(trunk.total).to eq(5)
  end

  it "is empty at first" do
    expect(Trunk.new.total).to eq(0)
  end
end
