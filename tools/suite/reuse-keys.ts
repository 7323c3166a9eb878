/**
 * Gives a test file the RSA keys that its worker has made already.
 *
 * @module
 */

import { reuseRsaKeys } from '@sallyport/testing/idp/rsa-keys';

reuseRsaKeys();
