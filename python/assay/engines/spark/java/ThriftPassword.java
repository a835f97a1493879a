package assay.spark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;

/**
 * Admits to a private Thrift server only clients that know the password in its file. Only the
 * server's user can read the file, whose path is a property of the Java process.
 */
public final class ThriftPassword implements PasswdAuthenticationProvider {
    private static final String FILE = "assay.thrift.password.file";

    @Override
    public void Authenticate(String user, String password) throws AuthenticationException {
        byte[] expected;
        try {
            expected = Files.readAllBytes(Path.of(System.getProperty(FILE)));
        } catch (IOException error) {
            throw new AuthenticationException("the server cannot read its password", error);
        }
        boolean isRight = password != null && expected.length > 0
                && MessageDigest.isEqual(expected, password.getBytes(StandardCharsets.UTF_8));
        if (!isRight) {
            throw new AuthenticationException("wrong password");
        }
    }
}
