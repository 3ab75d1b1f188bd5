/**
 * Lint rules that a compiler cannot give. Layout is prettier's job; the direction of imports and the size of files are checked by test/unit/project/house_rules.test.ts.
 */
import importSort from 'eslint-plugin-simple-import-sort'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['**/dist/', 'build/', 'node_modules/', 'wasm/pkg/', 'wasm/target/', 'build-*/', 'src/wire/envelope/'] },
  {
    files: ['src/**/*.ts', 'clients/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'loadtest/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { 'import-sort': importSort },
    rules: {
      // Node's modules, packages, our own from far to near; without blank lines between them.
      'import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^\\.']] }],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      // Ambient declarations for a library that has no types are the one use of a namespace.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always'],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'name what is exported' },
        { selector: 'TSEnumDeclaration', message: 'use a union of strings' },
      ],
    },
  },
  {
    // A describe block holds many cases, and node:test returns promises that its runner awaits.
    files: ['test/**/*.ts', 'bench/**/*.ts', 'loadtest/**/*.ts'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-floating-promises': 'off' },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'loadtest/**/*.ts'],
    ignores: ['test/harness/process/owned_processes.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'node:child_process',
              importNames: ['spawn', 'fork', 'exec', 'execFile'],
              message: 'take it from test/harness/process/owned_processes.ts, whose processes end with the test',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['scripts/**/*.mjs', 'bin/**/*.mjs', 'clients/**/*.mjs', 'eslint.config.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
    rules: { eqeqeq: ['error', 'always'], 'no-empty': ['error', { allowEmptyCatch: false }], 'no-unused-vars': 'error' },
  },
)
