/* The structure of SO_PEERCRED requires _GNU_SOURCE; other systems have getpeereid. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int64_t cubby_peer_user(int fd) {
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? (int64_t)peer.uid : -errno;
#else /* untried */
    uid_t user;
    gid_t group;
    return getpeereid(fd, &user, &group) == 0 ? (int64_t)user : -errno;
#endif
}
