<?php

final class Rack
{
    private array $counts = [];

    public function put(string $name, int $count): void
    {
        $this->counts[$name] = $count;
    }

    public function total(): int
    {
        return array_sum($this->counts);
    }
}
