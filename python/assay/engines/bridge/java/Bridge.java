package assay.bridge;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lends JDBC drivers to programs that are not Java: a Unix socket, a thread for each that connects.
 * Whoever reaches the socket brings the database's URL and password along; the bridge has none.
 */
final class Bridge {
    static final int PROTOCOL = 1;
    private static final int STACK_BYTES = 1 << 20;
    private static final int USAGE = 64;

    private final Map<Integer, Client> clients = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();

    private Bridge() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("the bridge takes one argument: the path of its socket");
            System.exit(USAGE);
        }
        // A driver may keep threads; nothing of it is to outlive an error here.
        try {
            new Bridge().listen(Path.of(arguments[0]));
        } catch (IOException error) {
            System.err.println("the bridge cannot listen on " + arguments[0] + ": " + error);
            System.exit(1);
        }
    }

    private void listen(Path path) throws IOException {
        try (ServerSocketChannel door = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            door.bind(UnixDomainSocketAddress.of(path));
            while (true) {
                welcome(door.accept());
            }
        }
    }

    private void welcome(SocketChannel line) {
        int number = numbers.incrementAndGet();
        Client client = new Client(this, number, new Wire(line));
        clients.put(number, client);
        new Thread(null, client, "client-" + number, STACK_BYTES).start();
    }

    /** The client of this number; null where it is gone. */
    Client client(int number) {
        return clients.get(number);
    }

    void forget(int number) {
        clients.remove(number);
    }
}
