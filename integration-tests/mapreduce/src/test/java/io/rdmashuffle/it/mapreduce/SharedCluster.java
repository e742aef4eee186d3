package io.rdmashuffle.it.mapreduce;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives test classes one cluster, as starting and stopping it takes most of a minute: started for
 * the first that asks, stopped after the last test of all. A job's faults are settings of that job;
 * NodeManagers hold nothing more once it is over, which {@link TestCluster#run} checks.
 */
final class SharedCluster implements ParameterResolver {
  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == TestCluster.class;
  }

  @Override
  public TestCluster resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(SharedCluster.class))
        .getOrComputeIfAbsent("cluster", key -> start(), TestCluster.class);
  }

  private static TestCluster start() {
    try {
      return TestCluster.start("shared");
    } catch (Exception e) {
      throw new ParameterResolutionException("the cluster does not start", e);
    }
  }
}
