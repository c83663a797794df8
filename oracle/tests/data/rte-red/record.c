/* Records the moving average of DPDK's rte_red over bursts, drains and idle times; see average.txt. */
#include <stdint.h>
#include <stdio.h>
#include <rte_red.h>

static uint32_t state = 1;

static uint32_t draw(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

int main(void)
{
	static const int weights[] = { 1, 4, 9, 12 };

	for (int w = 0; w < 4; w++) {
		struct rte_red_config config;
		struct rte_red red;
		uint64_t now = 0;
		int queue = 0;

		if (rte_red_config_init(&config, weights[w], 32, 128, 10) || rte_red_rt_data_init(&red))
			return 1;
		printf("weight %d\n", weights[w]);
		for (int i = 0; i < 100; i++) {
			int phase = i % 50;

			if (phase < 30)
				queue += draw() % 40;
			else if (phase < 48)
				queue = queue > 60 ? queue - 60 : 1;
			else
				queue = 0;
			if (queue == 0) {
				uint64_t frames = phase == 48 ? 1 + draw() % 20 : 20 + draw() % 2000;

				rte_red_mark_queue_empty(&red, now);
				now += frames * RTE_RED_S;
				rte_red_enqueue(&config, &red, 0, now);
				printf("idle %lu %u\n", frames, red.avg);
			} else {
				rte_red_enqueue(&config, &red, queue, now);
				printf("take %d %u\n", queue, red.avg);
			}
		}
	}
	return 0;
}
