package org.apache.hive.service.auth;

import javax.security.sasl.AuthenticationException;

/** The signature of an interface in Spark's jars, so that the build needs none of them. */
public interface PasswdAuthenticationProvider {
    void Authenticate(String user, String password) throws AuthenticationException;
}
