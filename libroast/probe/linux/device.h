#pragma once
/*
 * Which names of disks and network interfaces stand for a device
 *
 * sysfs tells, but walking its paths costs more than all the rest of a reading.
 * What it said is remembered, and asked again now and then: names come and go.
 */

#include <stdbool.h>
#include <stddef.h>

#define PROBE_DEVICES_MAX 16

/* Zeroes are the initial state; used by one thread. */
struct probe_devices {
        unsigned int n_readings;
        size_t n;
        struct {
                char name[32];
                bool is_device;
        } known[PROBE_DEVICES_MAX];
};

/* To be called before each reading. */
void probe_devices_begin(struct probe_devices *devices);
/* Whether there is a `device` in the directory of this name in `folder`, one of sysfs. */
bool probe_devices_has(struct probe_devices *devices, const char *folder, const char *name,
                       size_t len);
