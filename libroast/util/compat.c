/* Small differences between platforms: see compat.h */

#include "util/compat.h"

#ifdef __linux__

#include <linux/magic.h>
#include <stddef.h>
#include <sys/vfs.h>

bool compat_on_network(const char *path)
{
        static const long network[] = { NFS_SUPER_MAGIC,
                                        AFS_SUPER_MAGIC,
                                        SMB_SUPER_MAGIC,
                                        FUSE_SUPER_MAGIC,
                                        0xFE534D42 /* SMB2 */,
                                        0xFF534D42 /* CIFS */,
                                        0x6B414653 /* kAFS */ };
        struct statfs fs;

        if (statfs(path, &fs) < 0)
                return false;
        for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
                if (((unsigned long)fs.f_type & 0xffffffff) == (unsigned long)network[i])
                        return true;
        return false;
}

#else

bool compat_on_network(const char *path)
{
        (void)path;
        return false;
}

#endif
