/* The structure of SO_PEERCRED requires _GNU_SOURCE. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <sys/socket.h>

int64_t cubby_peer_user(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? (int64_t)peer.uid : -errno;
}
