#include <stdio.h>

/* Assembly without sizes: one routine alone, and one in front of a function without a symbol. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl bare_assembly\n"
        ".type bare_assembly, %function\n"
        "bare_assembly:\n"
        " .skip 24, 0\n"
        " .p2align 4\n"
        ".Lhidden:\n"
        " .cfi_startproc\n"
        " .skip 40, 0\n"
        " .cfi_endproc\n"
        ".globl hidden_end\n"
        ".hidden hidden_end\n"
        "hidden_end:\n");

extern void bare_assembly(void);

__attribute__((noinline)) static int inside(int depth) {
    return depth > 2 ? printf("%d\n", depth) : depth * 3;
}

__attribute__((noinline)) int outside(int depth) {
    return inside(depth + 1) + puts("outside");
}

extern int outside_too(int depth) __attribute__((alias("outside")));
extern int __outside(int depth) __attribute__((alias("outside")));

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 100) {
        bare_assembly();
    }
    return outside(count) == 0;
}
