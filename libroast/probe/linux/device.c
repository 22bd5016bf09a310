/* Names that stand for a device: see device.h */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/linux/device.h"

#define DEVICES_READINGS 64 /* so many times the same answer is given */

void probe_devices_begin(struct probe_devices *devices)
{
        if (devices->n_readings++ % DEVICES_READINGS == 0)
                devices->n = 0;
}

static bool device_ask(const char *folder, const char *name, size_t len)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/%.*s/device", folder, (int)len, name);
        return access(path, F_OK) == 0;
}

bool probe_devices_has(struct probe_devices *devices, const char *folder, const char *name,
                       size_t len)
{
        size_t i;

        if (!len || len >= sizeof(devices->known[0].name)) /* the kernel has no longer names */
                return false;
        for (i = 0; i < devices->n; i++) {
                if (!strncmp(devices->known[i].name, name, len) && !devices->known[i].name[len])
                        return devices->known[i].is_device;
        }
        if (i == PROBE_DEVICES_MAX)
                return device_ask(folder, name, len);
        memcpy(devices->known[i].name, name, len);
        devices->known[i].name[len] = 0;
        devices->known[i].is_device = device_ask(folder, name, len);
        devices->n++;
        return devices->known[i].is_device;
}
