/**
 * Causes in secret files.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const SECRET_CAUSES = {
  secret_folder_missing: {
    group: 'secrets',
    seen: 'Internal services get 401; a pod waits with `FailedMount`.',
    found: 'Looks for the folder of `clientSecretLocation`.',
    cure: 'Write the secret into the file that is named, or correct the path; in a pod, mount the Secret there.',
  },
  secret_file_missing: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'The folder of `clientSecretLocation` is empty.',
    cure: 'Write the secret into the file that is named; in a pod, that is the key of its name in the Secret.',
  },
  secret_key_missing: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'The folder holds other keys; they are named.',
    cure: 'Write the secret into the file that is named; in a pod, that is the key of its name in the Secret.',
  },
  secret_database_password_only: {
    group: 'secrets',
    seen: 'Control plane services get 401.',
    found: 'The folder holds `pass.txt` alone.',
    cure: 'Add the key `client_secret` beside it.',
  },
  secret_not_synchronized: {
    group: 'secrets',
    seen: 'Internal services get 401 for up to an hour after the installation.',
    found: 'The folder holds what the synchronization adds `client_secret` to.',
    cure: 'Look at the ExternalSecret: its reason must be `SecretSynced`.',
  },
  secret_link_broken: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'The path is a link to nothing.',
    cure: 'Look at the volume of the pod.',
  },
  secret_unreadable: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'Reads the file as this user.',
    cure: '`fsGroup` of the pod, or `defaultMode` of the volume.',
  },
  secret_unusable: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'Reads the file.',
    cure: 'Put a regular UTF-8 file of at most 64 KiB there.',
  },
  secret_empty: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'Reads the file.',
    cure: 'Write the secret into it.',
  },
  secret_blank: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'Reads the file.',
    cure: 'Write the secret into it.',
  },
  secret_byte_order_mark: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'Looks at the first bytes.',
    cure: 'Save it as UTF-8 without a byte order mark.',
  },
  secret_stand_in: {
    group: 'secrets',
    seen: 'Internal services get 401.',
    found: 'Knows what charts and examples have in place of a secret.',
    cure: "Write the application's secret.",
  },
  secret_newline: {
    group: 'secrets',
    seen: '401 from programs that send it along.',
    found: 'A newline at the end of the file.',
    cure: '`printf %s SECRET > FILE`; `kubectl create secret --from-literal`.',
  },
  secret_white_space: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'White space around the secret; tries it without.',
    cure: 'Write the secret alone.',
  },
  secret_quotes: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'Quotes around the secret; tries it without.',
    cure: 'Write the secret alone.',
  },
  secret_lines: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'More than one line.',
    cure: 'Write the secret alone.',
  },
  secret_control_character: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'A control character in the text.',
    cure: 'Write the secret alone.',
  },
  secret_json: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'The text is JSON.',
    cure: 'Map the property of the remote secret, not the whole of it.',
  },
  secret_assignment: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'The text is a name and a value; tries the value.',
    cure: 'Write the value alone.',
  },
  secret_base64: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'The text is base64 of a text; tries that.',
    cure: 'Encode it once for `data` of a Secret, and not at all for `stringData`.',
  },
  secret_open_to_all: {
    group: 'secrets',
    seen: 'Nothing; any user of the machine can act as the application.',
    found: 'Reads the mode of a file that is no link, as `serve` does.',
    cure: '`chmod o-rwx FILE`.',
  },
  secrets_differ: {
    group: 'secrets',
    seen: 'Some services get 401 after a rotation, others do not.',
    found: 'Compares the secrets of one client ID under a key of this run.',
    cure: 'Write the same secret to all places.',
  },
  secret_of_another_app: {
    group: 'secrets',
    seen: 'The identity provider refuses the application.',
    found: 'Compares all secrets of the run, and tries those of the other applications.',
    cure: 'Put the secret of each application into its own file.',
  },
  api_key_invalid: {
    group: 'secrets',
    seen: 'Task pods get 401, or their clients refuse the key.',
    found: 'Decodes the key of this environment, or of the Secret with `--cluster`.',
    cure: 'Write the key as it was issued.',
  },
  api_key_other_platform: {
    group: 'secrets',
    seen: 'Task pods call another platform.',
    found: 'Compares the host in the key with the platform.',
    cure: 'Write the key that was issued for this platform.',
  },
} as const;
