import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** While the app is developed: a running server, and its key, so that this one can stand in front of it. */
const { RETINUE_DEV_SERVER: target, RETINUE_DEV_KEY: key } = process.env;

export default defineConfig({
  root: here("."),
  plugins: [react(), tailwind()],
  resolve: { conditions: ["retinue-source", ...defaultClientConditions] },
  server: {
    host: "127.0.0.1",
    ...(target && {
      proxy: {
        "/api": { target, changeOrigin: true, headers: { origin: target, authorization: `Bearer ${key}` } },
      },
    }),
  },
  build: {
    outDir: process.env.RETINUE_WEB_OUT ?? here("../../dist/web"),
    emptyOutDir: true,
    target: "es2023",
    // Everything is a file of the server: the page's policy knows no data: scripts or fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_500,
  },
});
