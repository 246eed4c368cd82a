import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", ".bench/", "data/", "node_modules/"] },
  {
    files: ["**/*.ts", "**/*.mts"],
    extends: [...tseslint.configs.strictTypeChecked],
    // One program for all files: `projectService` needs twice the memory. `npm run lint` bounds it, as small machines end a process without a word.
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      // Numbers and bigints read well in templates.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      // Things here are records of functions made by `createThing`: none has a `this` to lose.
      "@typescript-eslint/unbound-method": "off",
      // `() => void work()` says what it means.
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/no-meaningless-void-operator": "off",
      "@typescript-eslint/no-invalid-void-type": "off",
      "no-restricted-syntax": [
        "error",
        { selector: "ExportDefaultDeclaration", message: "Named exports only." },
        { selector: "TSEnumDeclaration", message: "A union or a frozen table says the same without code." },
      ],
    },
  },
  {
    files: ["src/**/*.ts", "types/**/*.ts"],
    rules: {
      "no-restricted-properties": ["error", { object: "process", property: "env", message: "The library takes options, not the environment." }],
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      // chai's assertions are property reads.
      "@typescript-eslint/no-unused-expressions": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-lines": "off",
    },
  },
  { files: ["eslint.config.js", ".dependency-cruiser.cjs", "**/*.mjs", "**/*.js", "**/*.cjs"], extends: [tseslint.configs.disableTypeChecked] },
);
