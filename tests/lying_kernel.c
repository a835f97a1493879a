/* Starts a program whose flushes return at once and write nothing: the kernel answers them in its
   place. For a program that calls the kernel itself, without the C library that `lying_disk.c`
   stands in front of. syncfs stays the kernel's: Assay itself flushes the device with it. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANSWERED(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)

/* All calls are those of this host's own processor: programs of another kind are not started. */
static struct sock_filter flushes[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ANSWERED(SYS_fsync),
    ANSWERED(SYS_fdatasync),
    ANSWERED(SYS_sync_file_range),
    ANSWERED(SYS_msync),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int count, char **words) {
    struct sock_fprog filter = {sizeof flushes / sizeof *flushes, flushes};
    (void)count;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("the kernel takes no filter of system calls");
        return 1;
    }
    execv(words[1], words + 1);
    perror(words[1]);
    return 1;
}
