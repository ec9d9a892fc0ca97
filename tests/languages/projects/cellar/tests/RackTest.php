<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../src/Rack.php';

final class RackTest extends TestCase
{
    public function testCountsAddUp(): void
    {
        $rack = new Rack();
        $rack->put('red', 2);
        $rack->put('red', 3);
        $this->assertSame(5, $rack->total());
    }

    public function testIsEmptyAtFirst(): void
    {
        $this->assertSame(0, (new Rack())->total());
    }

    public function testRefuses(): void
    {
        throw new DomainException('no room');
    }
}
