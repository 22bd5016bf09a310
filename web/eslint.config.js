import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      // Names from users reach the page as text, never as markup.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Use textContent: names come from users." },
        { property: "outerHTML", message: "Use textContent: names come from users." },
        { property: "insertAdjacentHTML", message: "Use textContent: names come from users." },
      ],
      // uPlot's enums exist in its types only: their numbers have to be written out.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
);
