#pragma once

int total(int boxes, int weight);
