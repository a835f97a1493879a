import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A program whose profile is known: 70, 20 and 10 % of its thread's CPU time are in three methods.
 * `java Shape SECONDS` waits for a line, works, prints the shares that it measured of itself, and
 * ends when its standard input does. How long a method goes on is drawn, so that no sampler of a
 * fixed period is in step with it. Shape.class is made of this by `javac --release 8 -g:none`.
 */
public final class Shape {
    private static final int[] PERCENT = {70, 20, 10};
    private static final int TURNS_MAX = 40_000;
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws Exception {
        waitForLine();
        long[] hadNs = work((long) (Double.parseDouble(arguments[0]) * 1e9));
        double sum = hadNs[0] + hadNs[1] + hadNs[2];
        System.out.println("[" + hadNs[0] / sum + ", " + hadNs[1] / sum + ", " + hadNs[2] / sum + "]");
        waitForLine();
    }

    private static void waitForLine() throws Exception {
        int read = System.in.read();
        while (read >= 0 && read != '\n') {
            read = System.in.read();
        }
    }

    private static long[] work(long lifeNs) {
        long[] hadNs = new long[3];
        long value = 1;
        long drawn = System.nanoTime();
        long nowNs = CLOCK.getCurrentThreadCpuTime();
        while (hadNs[0] + hadNs[1] + hadNs[2] < lifeNs) {
            int next = furthestBehind(hadNs);
            drawn = drawn * 6_364_136_223_846_793_005L + 1;
            int turns = (int) ((drawn >>> 32) % TURNS_MAX);
            value = next == 0 ? seventy(value, turns) : next == 1 ? twenty(value, turns) : ten(value, turns);
            long afterNs = CLOCK.getCurrentThreadCpuTime();
            hadNs[next] += afterNs - nowNs;
            nowNs = afterNs;
        }
        hadNs[0] += value & 1;
        return hadNs;
    }

    private static int furthestBehind(long[] hadNs) {
        int behind = 0;
        for (int number = 1; number < 3; number++) {
            if (hadNs[number] / PERCENT[number] < hadNs[behind] / PERCENT[behind]) {
                behind = number;
            }
        }
        return behind;
    }

    private static long seventy(long value, int turns) {
        for (int turn = 0; turn < turns; turn++) {
            value = Long.rotateLeft(value, 7) ^ turn;
        }
        return value;
    }

    private static long twenty(long value, int turns) {
        for (int turn = 0; turn < turns; turn++) {
            value = value * 31 + (turn >> 3);
        }
        return value;
    }

    private static long ten(long value, int turns) {
        for (int turn = 0; turn < turns; turn++) {
            value = Long.reverseBytes(value) - turn;
        }
        return value;
    }
}
