package assay.bridge;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * Messages over a line: a tag of one byte, the length of what follows it (with these four bytes), a
 * body. Numbers are big-endian; texts and bytes have their length in four bytes before them.
 */
final class Wire implements Closeable {
    private static final int HEADER_BYTES = 5;
    private static final int LENGTH_BYTES = 4;
    private static final int ROOM_BYTES = 1 << 16;
    /** What waits is sent when there is more of it than this. */
    private static final int SEND_BYTES = 1 << 16;
    private static final int MESSAGE_BYTES_MAX = 1 << 30;

    private final SocketChannel line;
    private ByteBuffer in = ByteBuffer.allocateDirect(ROOM_BYTES).flip();
    private ByteBuffer out = ByteBuffer.allocateDirect(2 * ROOM_BYTES);
    private int messageEnd;
    private int begun;

    Wire(SocketChannel line) {
        this.line = line;
    }

    @Override
    public void close() throws IOException {
        line.close();
    }

    /** Waits for the next whole message and returns its tag; -1 where the peer is gone. */
    int next() throws IOException {
        in.position(messageEnd);
        if (!fill(HEADER_BYTES)) {
            return -1;
        }
        int tag = in.get();
        int length = in.getInt();
        if (length < LENGTH_BYTES || length > MESSAGE_BYTES_MAX) {
            throw new IOException("a message of " + length + " bytes");
        }
        if (!fill(length - LENGTH_BYTES)) {
            throw new EOFException("the line ended within a message");
        }
        messageEnd = in.position() + length - LENGTH_BYTES;
        return tag;
    }

    /** Reads until so many bytes are there; false at the end of the line. */
    private boolean fill(int wanted) throws IOException {
        if (in.remaining() >= wanted) {
            return true;
        }
        if (wanted > in.capacity()) {
            in = ByteBuffer.allocateDirect(wanted).put(in).flip();
        } else if (in.position() + wanted > in.capacity()) {
            in.compact().flip();
        }
        while (in.remaining() < wanted) {
            int unread = in.position();
            in.position(in.limit()).limit(in.capacity());
            int count = line.read(in);
            in.limit(in.position()).position(unread);
            if (count < 0) {
                return false;
            }
        }
        return true;
    }

    byte readByte() {
        return in.get();
    }

    int readInt() {
        return in.getInt();
    }

    long readLong() {
        return in.getLong();
    }

    String readText() {
        return new String(readBytes(), StandardCharsets.UTF_8);
    }

    byte[] readBytes() {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return bytes;
    }

    /** So many of the next bytes as they are, little-endian; valid until the next message. */
    ByteBuffer readColumn(int size) {
        ByteBuffer column = in.slice(in.position(), size).order(ByteOrder.LITTLE_ENDIAN);
        in.position(in.position() + size);
        return column;
    }

    void begin(char tag) {
        begun = out.position();
        room(HEADER_BYTES);
        out.put((byte) tag).putInt(0);
    }

    void end() throws IOException {
        out.putInt(begun + 1, out.position() - begun - 1);
        if (out.position() >= SEND_BYTES) {
            flush();
        }
    }

    /** Takes back a message that was begun. */
    void drop() {
        out.position(begun);
    }

    void flush() throws IOException {
        out.flip();
        while (out.hasRemaining()) {
            line.write(out);
        }
        out.clear();
    }

    private void room(int wanted) {
        if (out.remaining() < wanted) {
            int size = Math.max(2 * out.capacity(), out.position() + wanted);
            out = ByteBuffer.allocateDirect(size).put(out.flip());
        }
    }

    Wire put(int value) {
        room(Byte.BYTES);
        out.put((byte) value);
        return this;
    }

    Wire putInt(int value) {
        room(Integer.BYTES);
        out.putInt(value);
        return this;
    }

    Wire putLong(long value) {
        room(Long.BYTES);
        out.putLong(value);
        return this;
    }

    Wire putText(String text) {
        return putBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    Wire putBytes(byte[] bytes) {
        room(Integer.BYTES + bytes.length);
        out.putInt(bytes.length).put(bytes);
        return this;
    }
}
