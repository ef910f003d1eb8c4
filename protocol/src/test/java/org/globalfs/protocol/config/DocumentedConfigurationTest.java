package org.globalfs.protocol.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configurations that docs/operations.md shows are taken as they are. */
final class DocumentedConfigurationTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "operations.md");
    private static final Pattern YAML = Pattern.compile("(?s)```yaml\n(.*?)```");

    @TempDir private Path folder;

    @Test
    void whatIsShownIsTaken() throws Exception {
        List<String> shown =
                YAML.matcher(Files.readString(DOCUMENT))
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .toList();
        assertThat(shown).hasSize(2);
        Path server = Files.writeString(folder.resolve("server.yaml"), shown.getFirst());
        ServerConfig config = ServerConfig.read(server);
        assertThat(config.topology().regions()).hasSize(2);
        assertThat(config.roles().storage()).hasSize(2);
        Path client = Files.writeString(folder.resolve("client.yaml"), shown.getLast());
        assertThat(ClientConfig.read(client).region()).isEqualTo(config.region());
    }
}
