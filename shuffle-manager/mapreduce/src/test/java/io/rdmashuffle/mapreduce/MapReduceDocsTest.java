package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.Test;

final class MapReduceDocsTest {
  private static final Path PAGE = Path.of("../../docs/configuration-mapreduce.md");

  @Test
  void pageMatchesTheOptions() throws IOException {
    if (Boolean.getBoolean("configdocs.write")) {
      MapReduceDocs.main(new String[] {PAGE.toString()});
    }
    assertThat(Files.readString(PAGE))
        .as("docs/configuration-mapreduce.md; write it anew with -Dconfigdocs.write=true")
        .isEqualTo(MapReduceDocs.page());
  }

  /** Added to any yarn-site.xml, it replaces no list of services and asks for no fixed port. */
  @Test
  void theTemplateForNodeManagersNamesTheServiceAndNothingElse() {
    Configuration template = new Configuration(false);
    template.addResource(new org.apache.hadoop.fs.Path("../../conf/yarn-site.xml.template"));

    assertThat(template)
        .extracting(Map.Entry::getKey)
        .containsExactly("yarn.nodemanager.aux-services.mapreduce_shuffle.class");
    assertThat(template.get("yarn.nodemanager.aux-services.mapreduce_shuffle.class"))
        .isEqualTo(RdmaShuffleHandler.class.getName());
  }

  /** A NodeManager with recovery refuses to start on a port that is not fixed. */
  @Test
  void recoveryIsOfferedWithAFixedPort() throws Exception {
    String everything =
        Files.readString(Path.of("../../conf/yarn-site.xml.template"))
            .replaceAll("<!--[^<]*", "")
            .replace("-->", "");
    Configuration all = new YarnConfiguration();
    all.addResource(new ByteArrayInputStream(everything.getBytes(StandardCharsets.UTF_8)));

    assertThat(all.getBoolean("yarn.nodemanager.recovery.enabled", false)).isTrue();
    assertThat(all.getSocketAddr(YarnConfiguration.NM_ADDRESS, "", 0).getPort()).isPositive();
  }
}
